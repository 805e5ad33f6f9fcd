import type { Client } from 'pg'
import { until } from '../../support/until.ts'
import { isStopped, withRole } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import { mustBeSame } from '../until-same.ts'
import type { DaemonProcess } from '../world.ts'

type Stream = { name: string; holder: string | null; fence: string; height: string | null }

const withinMs = 120_000

/**
 * A worker stands still between what it read and what it writes, for longer than its lease; another takes the stream and
 * moves it on. What the first one then writes is refused, for the fence has moved.
 */
function leaseLost(failpoint: 'scan.read' | 'poll.read', like: string): Fault {
  return {
    name: 'F23',
    title: `a lease that is lost between reading and writing, at ${failpoint}`,
    ground: 'shared',
    async strike(world) {
      const client = await world.connect()
      await client.query(watch)
      try {
        for (const worker of withRole(world, 'worker')) await worker.stop()
        await world.pay(2)
        const late = await world.start('worker,scheduler', { stopAt: { failpoint, nth: 3 } })
        await until(`it stands still at ${failpoint}`, () => (isStopped(late) ? true : null), withinMs)
        const held = (await streamsOf(client, like)).filter(({ holder }) => holder !== null)
        if (held.length === 0) throw new Error('nobody held a stream as the worker stood still')
        await world.start('worker,scheduler')
        const taken = await untilTaken(client, like, held)
        late.signal('SIGCONT')
        await untilGoneOn(client, late, like)
        mustBeSame('cursors that went back', (await client.query('select * from chaos_moved_back')).rows, [])
        holdForward(taken, await streamsOf(client, like))
        await holdOneHistory(client)
      } finally {
        await client.query(unwatch)
        await client.end()
      }
    },
  }
}

async function streamsOf(client: Client, like: string): Promise<Stream[]> {
  const { rows } = await client.query<Stream>(
    `select name, holder, fence::text, cursor #>> '{final,height}' as height from stream where name like $1`,
    [like],
  )
  return rows
}

/** Once their leases have run out, somebody else has them all, under fences of their own. */
function untilTaken(client: Client, like: string, held: readonly Stream[]): Promise<Stream[]> {
  return until(
    'another worker takes what it held',
    async () => {
      const now = await streamsOf(client, like)
      const isTaken = ({ name, fence }: Stream) =>
        now.some((one) => one.name === name && BigInt(one.fence) > BigInt(fence))
      return held.every(isTaken) ? now : null
    },
    withinMs,
  )
}

/** No cursor and no fence went back. */
function holdForward(before: readonly Stream[], after: readonly Stream[]): void {
  const places = new Map(after.map((stream) => [stream.name, placeOf(stream)]))
  for (const stream of before) {
    const [was, is = []] = [placeOf(stream), places.get(stream.name)]
    if (was.some((one, place) => (is[place] ?? 0n) < one))
      throw new Error(`${stream.name} went back: ${is.join(' at ')} in the place of ${was.join(' at ')}`)
  }
}

const placeOf = ({ fence, height }: Stream) => [BigInt(fence), BigInt(height ?? 0)]

/** The queue has given its job to another, and so tells of no failure: what it did is seen by what it left. */
async function untilGoneOn(client: Client, late: DaemonProcess, like: string): Promise<void> {
  await until(`${late.name} goes on`, () => (isStopped(late) ? null : true), withinMs)
  for (let round = 0; round < 2; round++) {
    const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now')
    await until(
      'every stream is read on',
      async () => {
        const { rowCount } = await client.query(
          'select from stream where name like $1 and (succeeded_at is null or succeeded_at <= $2)',
          [like, rows[0]?.now],
        )
        return rowCount === 0 ? true : null
      },
      withinMs,
    )
  }
}

/** Notes each move of a cursor to a lower height, by whomever, until it is taken away again. */
const watch = `
  create table chaos_moved_back (name text, was jsonb, became jsonb);
  create function chaos_note_move() returns trigger language plpgsql security definer as $$
  begin
    if (new.cursor #>> '{final,height}')::numeric < (old.cursor #>> '{final,height}')::numeric then
      insert into public.chaos_moved_back values (new.name, old.cursor, new.cursor);
    end if;
    return null;
  end $$;
  create trigger chaos_moved_back after update on stream for each row execute function chaos_note_move()`
const unwatch = `
  drop trigger chaos_moved_back on stream;
  drop function chaos_note_move;
  drop table chaos_moved_back`

const takenOverTimes = 12

/** Somebody takes the streams again and again, in the middle of whatever is done: two believe that a cursor is theirs. */
const twoOwners: Fault = {
  name: 'F23',
  title: 'cursors that are taken away again and again',
  ground: 'shared',
  async strike(world, random) {
    const client = await world.connect()
    try {
      await world.pay(4)
      let taken = 0
      await until(
        'every cursor was taken several times',
        async () => {
          const { rowCount } = await client.query(
            `update stream set holder = 'somebody else', fence = fence + 1, expires_at = now() + interval '300 ms'
             where (name = 'poll' or name like 'scan/%') and holder is distinct from 'somebody else'
               and holder is not null and random() < $1`,
            [random.between(3, 8) / 10],
          )
          taken += rowCount ?? 0
          return taken >= takenOverTimes ? true : null
        },
        withinMs,
      )
      await holdOneHistory(client)
    } finally {
      await client.end()
    }
  },
}

/** What was found was stored once, and booked once (I2). */
async function holdOneHistory(client: Client): Promise<void> {
  const { rows: twice } = await client.query(
    `select posting_key from ledger_journal group by posting_key having count(*) > 1
     union all
     select transfer || ' ' || stage from chain_transfer
     where transfer not in (select transfer from chain_transfer where stage = 'orphaned')
     group by network, transfer, stage, block_hash having count(*) > 1`,
  )
  mustBeSame('what is there twice', twice, [])
}

export const twoOwnersOfACursor: Fault[] = [
  leaseLost('scan.read', 'scan/%'),
  leaseLost('poll.read', 'poll'),
  twoOwners,
]
