/** Credits each customer exactly once. Run: API=http://127.0.0.1:8088 TOKEN=... node credit-consumer.ts credits.db */
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

type CreditEvent = {
  sequence: string
  type: string
  deposit_id: string
  owner: { id: string } | null
  data: { asset: string; amount: string }
}

const { API, TOKEN } = process.env
const db = new DatabaseSync(process.argv[2] ?? 'credits.db', { timeout: 5000 })
db.exec(`create table if not exists position (after integer not null);
  insert into position select 0 where not exists (select 1 from position);
  create table if not exists entry (event integer primary key, deposit text, customer text, asset text, amount text)`)
const credit = db.prepare('insert or ignore into entry values (?, ?, ?, ?, ?)')
const takeBack = db.prepare(`
  insert or ignore into entry select ?1, deposit, customer, asset, '-' || amount from entry
  where amount not like '-%' and event = (select max(event) from entry where deposit = ?2 and event < ?1)`)

async function readAfter(after: number): Promise<CreditEvent[]> {
  const url = `${API}/v1/events?after=${after}&limit=500&wait=30s`
  const headers = { authorization: `Bearer ${TOKEN}` }
  for (;;) {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(60_000) }).catch(() => null)
    if (answer !== null && /^4(?!29)/.test(`${answer.status}`)) throw new Error(await answer.text())
    const page: unknown = answer?.ok === true ? await answer.json().catch(() => null) : null
    if (page !== null) return (page as { data: CreditEvent[] }).data
    await sleep(1000)
  }
}

for (;;) {
  let after = Number(db.prepare('select after from position').get()?.after)
  const events = await readAfter(after)
  db.exec('begin immediate')
  for (const { sequence, type, deposit_id: deposit, owner, data } of events) {
    if (Number(sequence) !== after + 1) throw new Error(`event ${sequence} follows ${after}`)
    after += 1
    if (type === 'deposit.credit_safe') credit.run(after, deposit, owner?.id ?? null, data.asset, data.amount)
    if (type === 'deposit.reversed') takeBack.run(after, deposit)
  }
  db.prepare('update position set after = ?').run(after)
  db.exec('commit')
}
