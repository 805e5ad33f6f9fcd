import { until } from '../../support/until.ts'
import type { Fault } from '../fault.ts'
import { type BooksBeside, openBooksBeside } from '../hostile/books-beside.ts'
import { countStored } from '../hostile/genuine-traffic.ts'
import { hostileBodies } from '../hostile/hostile-bodies.ts'
import { targetOf } from '../hostile/target.ts'
import { attackerWord, underAttack } from '../hostile/under-attack.ts'
import { send, sign } from '../hostile/webhook-sender.ts'
import { mustBeSame } from '../until-same.ts'
import type { ChaosWorld } from '../world.ts'

const attacker = '127.0.0.3'

/** Whoever holds the secret sends what nobody should: on books of its own, for what it tells is not true. */
const signedBodies: Fault = {
  name: 'F18',
  title: 'bodies of every hostile form, rightly signed',
  ground: 'own',
  async strike(world) {
    await using stack = new AsyncDisposableStack()
    const books = await openBooksBeside(world, stack)
    const { target } = books
    await underAttack(target, async ({ url }) => {
      const taken: string[] = []
      for (const [place, { what, body, headers, status }] of hostileBodies(attackerWord).entries()) {
        const id = `body-${place}`
        const right = sign({ secret: target.secret }, id, body)
        const webhook = { ...right, headers: { ...right.headers, ...headers } }
        const answer = await send({ url, localAddress: attacker }, webhook)
        mustBeSame(`the answer to ${what}`, answer.status, status)
        if (status === 202) taken.push(id)
      }
      mustBeSame('rows of what was taken', (await countStored(target, taken)).length, taken.length)
    })
    await holdApplied(books, world)
    await books.hold()
  },
}

/** Everything is applied, no job chokes on it, and the books hold what was really paid at most. */
async function holdApplied({ query, worker }: BooksBeside, { paid }: ChaosWorld): Promise<void> {
  await until(
    'all that was taken is applied',
    async () => ((await query('select from inbox_pending limit 1')).length === 0 ? true : null),
    120_000,
  )
  const failed = worker.output().match(/.*"event":"job_failed".*/g) ?? []
  const choked = failed.filter((line) => /"job":"(?:apply|sweep|read)"/.test(line))
  if (choked.length > 0) throw new Error(`${choked.length} jobs failed: ${choked[0]?.slice(0, 1000)}`)
  const unexplained = await query<{ source_key: string }>(
    `select source_key from inbox
     where source = 'webhook' and position('deposit.detected'::bytea in body) > 0
       and not exists (select from evidence where inbox_id = inbox.id)
       and not exists (select from mismatch where subject = 'inbox/' || inbox.id)`,
  )
  mustBeSame('rows that are neither evidence nor under a mismatch', unexplained, [])
  const untrue = await query(
    `select posting_key from ledger_journal
     where transfer is null or split_part(transfer, '/', 2) <> all ($1::text[])`,
    [paid.map(({ tx }) => tx)],
  )
  mustBeSame('journals of what nobody paid', untrue, [])
}

/** The same without a signature: each is refused, and none costs more than another. */
const unsignedBodies: Fault = {
  name: 'F18',
  title: 'bodies of every hostile form, of somebody without the secret',
  ground: 'shared',
  async strike(world) {
    const target = targetOf(world)
    await underAttack(target, async ({ url }) => {
      const lane = async () => {
        for (const { what, body, headers } of hostileBodies(attackerWord)) {
          const webhook = { id: '', body, headers: { 'content-type': 'application/json', ...headers } }
          const { status } = await send({ url, localAddress: attacker }, webhook)
          if (![400, 401, 413, 415, 503].includes(status))
            throw new Error(`${what}, unsigned, was answered ${status}`)
        }
      }
      await Promise.all(Array.from({ length: 8 }, lane))
    })
  },
}

export const bodies: Fault[] = [signedBodies, unsignedBodies]
