"""How well-known servers are named as a judge: their base URL, and the environment variable that holds the key."""

from __future__ import annotations

from typing import NamedTuple


class Recipe(NamedTuple):
    """`base_url` is a pattern, its capitals to be filled in; `variable` is empty where no key is needed."""

    name: str
    base_url: str
    model: str
    variable: str
    note: str = ""


RECIPES = (
    Recipe("OpenAI", "https://api.openai.com/v1", "gpt-5-mini", "OPENAI_API_KEY"),
    Recipe(
        "Azure OpenAI",
        "https://RESOURCE.openai.azure.com/openai/v1",
        "DEPLOYMENT",
        "AZURE_OPENAI_API_KEY",
        "Use your deployment's name as the model.",
    ),
    Recipe(
        "Amazon Bedrock",
        "https://bedrock-runtime.REGION.amazonaws.com/openai/v1",
        "openai.gpt-oss-120b-1:0",
        "AWS_BEARER_TOKEN_BEDROCK",
        "The key is a Bedrock API key. Also works with https://bedrock-mantle.REGION.api.aws/openai/v1.",
    ),
    Recipe(
        "vLLM",
        "http://HOST:8000/v1",
        "Qwen/Qwen3-32B",
        "",
        "vllm serve MODEL. With --api-key, put the key into a variable such as VLLM_API_KEY.",
    ),
    Recipe("Ollama", "http://HOST:11434/v1", "llama3.3", "", "Use the model's name from ollama list."),
    Recipe(
        "LiteLLM proxy",
        "http://HOST:4000/v1",
        "MODEL",
        "LITELLM_API_KEY",
        "For Vertex and other providers, and for signed AWS credentials. Use the proxy's name for the model.",
    ),
)
