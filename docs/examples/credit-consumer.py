"""Credits each customer exactly once. Run: API=http://127.0.0.1:8088 TOKEN=... python3 credit-consumer.py credits.db"""
import http.client, json, os, sqlite3, sys, time, urllib.error, urllib.request

db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.executescript("""
    create table if not exists position (after integer not null);
    insert into position select 0 where not exists (select 1 from position);
    create table if not exists entry (event integer primary key, deposit text, customer text, asset text, amount text);
""")
CREDIT = "insert or ignore into entry values (?, ?, ?, ?, ?)"
TAKE_BACK = """insert or ignore into entry select ?1, deposit, customer, asset, '-' || amount from entry
    where amount not like '-%' and event = (select max(event) from entry where deposit = ?2 and event < ?1)"""


def read_after(after):
    url = f"{os.environ['API']}/v1/events?after={after}&limit=500&wait=30s"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {os.environ['TOKEN']}"})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as refused:
            if refused.code < 500 and refused.code != 429:
                sys.exit(refused.read().decode())
        except (OSError, ValueError, http.client.HTTPException):
            pass
        time.sleep(1)


while True:
    (after,) = db.execute("select after from position").fetchone()
    events = read_after(after)
    db.execute("begin immediate")
    for event in events:
        if int(event["sequence"]) != after + 1:
            sys.exit(f"event {event['sequence']} follows {after}")
        after += 1
        if event["type"] == "deposit.credit_safe":
            data, owner = event["data"], event["owner"]
            db.execute(CREDIT, (after, event["deposit_id"], owner and owner["id"], data["asset"], data["amount"]))
        if event["type"] == "deposit.reversed":
            db.execute(TAKE_BACK, (after, event["deposit_id"]))
    db.execute("update position set after = ?", (after,))
    db.execute("commit")
