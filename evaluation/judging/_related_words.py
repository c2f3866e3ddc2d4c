"""Everyday English words that stand for one another, and words that exclude one another.

Short lists of common words, written down by hand: a summary that says "injured" where the reference says
"hurt" is not silent, and one that says "left" where the source says "right" is wrong. Other languages have no
list; there, only words with the same beginning count as related.
"""

# A word of two lines counts for the first.
_ALIKE = """
kill murder slay slain die death dead fatal fatally deadly deceased perish
stab knife
shoot gun gunman gunshot shot
injure injury hurt wound harm casualty
attack assault ambush
win victory beat defeat triumph winner
lose loss lost
begin begun start launch commence open
end finish conclude
buy purchase acquire bought
sell sale sold
show reveal disclose display unveil
claim state announce declare insist report reveal
believe think thought
want wish hope desire
plan intend aim schedule
try attempt bid effort
help assist aid support
ask request demand urge
arrest detain custody
police officer cop policeman policewoman detective
prison jail imprison
court trial
charge accuse allege
admit confess
man male guy
woman female lady
child kid youngster
boy son
girl daughter
mother mom mum
father dad
spouse marry wed married marriage
student pupil schoolboy schoolgirl
doctor physician medic surgeon
house home residence
car vehicle automobile
lorry truck
plane aircraft jet airplane
ship boat vessel ferry
ground aground
fire blaze burn flame
crash collide collision smash
hit strike struck punch
flee escape
rescue save
find found discover locate detect
hunt seek look
big large huge giant enormous massive
small little tiny minor
fast quick rapid
rise rose risen increase grow grew growth climb raise
fall fell drop decrease decline reduce reduction cut
money cash fund
pay paid cost spend spent price
job work role
boss manager chief head
company firm business corporation
team side club squad
player footballer
game match
football soccer
picture photo image photograph snap
video footage clip film movie
website online internet web
angry furious anger outrage fury
happy delight pleased
worry fear concern afraid scared
love adore
famous celebrity
leave left depart departure
arrive come came reach
go went travel trip journey
bring brought take took carry
tow pull drag
make made create produce build built
give gave provide offer
get got receive obtain
keep kept retain remain stay
live reside
need require
allow permit let
stop prevent block halt suspend suspension
ban prohibit forbid
cancel scrap abandon
agree deal accord agreement
accept approve approval
reject refuse
vote election poll
country nation
town city
american us america
british uk britain
war conflict battle
soldier troop army military
bomb blast explosion explode
terrorist militant extremist
illness disease sick sickness ill
medicine medication drug
drink drank alcohol drunk
food meal
dog puppy
holiday vacation
year annual yearly
month monthly
week weekly
day daily
about approximately roughly nearly almost around
serious severe severely bad badly grave
danger dangerous risk hazard
often frequent
important key crucial vital main
new latest
old elderly aged age
top best
wrong error mistake fault
reason cause
change alter
watch see saw seen view
hear heard listen
speak spoke spoken talk
write wrote written author
teach taught teacher
friend mate
person people
hide hid hidden conceal
steal stole stolen rob theft robbery burglary
throw threw thrown toss hurl
postpone delay defer adjourn
return back
join sign
include contain
recover recovery heal
destroy wreck damage
lawyer attorney solicitor
investigate investigation probe inquiry
treat treatment
tender bid offer
visit visitor
ashore shore
fix repair mend
rent fee fare
"""

_OPPOSED = """
left/right east/west north/south up/down upper/lower inside/outside before/after
morning/evening day/night summer/winter spring/autumn early/late earlier/later first/last
monday/tuesday/wednesday/thursday/friday/saturday/sunday
january/february/march/april/may/june/july/august/september/october/november/december
man/woman boy/girl mother/father son/daughter brother/sister husband/wife he/she
rise/fall increase/decrease grow/shrink raise/lower raise/cut raise/reduce more/less/fewer most/least
gain/lose win/lose profit/loss higher/lower high/low
start/stop/end begin/end/stop open/close/shut arrive/depart enter/leave
accept/reject approve/reject agree/refuse allow/ban permit/forbid allow/forbid adopt/reject admit/deny
confirm/deny support/oppose
pass/fail succeed/fail success/failure
buy/sell borrow/lend hire/fire dismiss/appoint
positive/negative good/bad better/worse best/worst right/wrong safe/dangerous sound/unsound
well/poorly true/false guilty/innocent/acquitted convict/acquit legal/illegal
alive/dead live/die survive/die
hot/cold warm/cold wet/dry full/empty
young/old new/old
long/short large/small big/small wide/narrow heavy/light fast/slow
always/never all/none everybody/nobody everyone/nobody
win/draw home/away
private/public local/national national/international
minute/hour hour/day week/month month/year week/year day/week minute/day minute/week hour/week
"""

# Verbs that deny what follows them without a word that says so.
_DENYING = (
    "suspend cancel stop ban fail refuse lack prevent reject deny avoid abolish forbid end halt postpone "
    "prohibit withdraw unable"
)

ALIKE: dict[str, tuple[tuple[str, ...], ...]] = {
    "en": tuple(tuple(line.split()) for line in _ALIKE.strip().splitlines())
}
OPPOSED: dict[str, tuple[tuple[str, ...], ...]] = {
    "en": tuple(tuple(group.split("/")) for group in _OPPOSED.split())
}
DENYING: dict[str, tuple[str, ...]] = {"en": tuple(_DENYING.split())}

_EVERYDAY = """
make take get go come give find use know think see look want tell ask work try leave call need feel become
show let begin keep bring happen hold set put man woman people person year time day week month thing way part
place group number case point first last new old good big great long high little own next early late many much
several same different today yesterday tomorrow told add include report claim state believe expect remain
continue since back
"""
EVERYDAY: dict[str, tuple[str, ...]] = {"en": tuple(_EVERYDAY.split())}
"""Words so common that finding or missing one says little."""
