"""Become a worker, as the application starts one."""

import os

import django

if __name__ == "__main__":
    django.setup()
    from annotation.workers import worker_command

    command = worker_command()
    os.execv(command[0], command)
