import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { notCovered } from '../oracle/chain-coverage.ts'
import { evmPayments, type PaidTransaction, solanaPayments } from '../oracle/chain-deposits.ts'
import { type EmbeddedProgram, startProgram } from '../support/embedded-program.ts'
import { makeFolder } from '../support/make-folder.ts'
import { until } from '../support/until.ts'

/** How often the program is killed; more by `KILLS=5 npm test -- test/scenario/killed`. */
const kills = Number(process.env.KILLS ?? 1)
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)

const folder = makeFolder('depositd-killed-')
let running: EmbeddedProgram | null = null

afterAll(async () => {
  if (running !== null) await running.end('SIGINT')
  await rm(folder, { recursive: true, force: true })
})

test(`killed ${kills} times at random moments, it loses no deposit and books none twice (seed ${seed})`, {
  timeout: 360_000 + kills * 120_000,
}, async () => {
  for (let count = 0; count < kills; count++) {
    running = await startProgram(folder, 1)
    await wait(2000 + moment(count) * 8000)
    await running.end('SIGKILL')
  }
  // A long pause between payments, so that what is open can come to an end.
  running = await startProgram(folder, 3600)
  const environment = parseEnv(await readFile(join(folder, '.depositd/embedded.env'), 'utf8'))
  const client = new Client({ connectionString: environment.DATABASE_URL })
  await client.connect()
  try {
    await until('every payment is explained', () => explained(client, environment), 300_000)
    expect((await client.query(bookedTwice)).rows).toEqual([])
    expect((await client.query(unbalanced)).rows).toEqual([])
    expect((await client.query(unbooked)).rows).toEqual([])
    await until('every height was read for every address', async () => {
      const { rows } = await client.query(notCovered)
      return rows.length === 0 || null
    })
  } finally {
    await client.end()
  }
})

/** I2: one standing journal per transfer and leg, and a reversal of each other. */
const bookedTwice = `
  select transfer, kind, count(*) from ledger_journal j
  where kind <> 'reversal' and not exists (select 1 from ledger_journal r where r.reverses = j.id)
  group by transfer, kind having count(*) > 1`

/** I3, per asset and per journal; the view gives each transfer twice, with opposite signs. */
const unbalanced = `
  select asset from ledger_entry group by asset having sum(amount) <> 0
  union all select asset from ledger_entry group by journal_id, asset having sum(amount) <> 0`

/** A final payment stands in the books; a settled one has left transit. */
const unbooked = `
  select id, state from deposit d where merged_into is null and state in ('settled', 'reconciled') and (
    select count(distinct kind) from ledger_journal j
    where j.transfer = d.transfer and kind in ('deposit', 'settlement')
      and not exists (select 1 from ledger_journal r where r.reverses = j.id)) <> 2`

/**
 * Every payment the chains hold, once each is reconciled, is coin by which the service pays for its sweeps, or has a
 * named mismatch; null until then.
 */
async function explained(
  client: Client,
  environment: NodeJS.Dict<string>,
): Promise<PaidTransaction[] | null> {
  const paid = await payments(client, environment)
  const { rows } = await client.query<{ key: string }>(`
    select network || '/' || tx || '/' || address || '/' || split_part(asset, '/', 2) || '/' || amount as key
    from deposit d where merged_into is null and (state = 'reconciled'
      or (state = 'ignored' and asset like '%/native')
      or exists (select 1 from mismatch m where m.deposit_id = d.id and m.cleared_at is null))`)
  const known = rows.map(({ key }) => key).toSorted()
  const wanted = paid
    .map((one) => [one.network, one.tx, one.address, one.contract, one.amount].join('/'))
    .toSorted()
  return wanted.length > 0 && wanted.every((key) => known.includes(key)) ? paid : null
}

async function payments(client: Client, environment: NodeJS.Dict<string>): Promise<PaidTransaction[]> {
  const { rows } = await client.query<{ network: string; address: string }>(
    `select network, address from address_book where role = 'deposit'`,
  )
  const settings = parse(await readFile(join(folder, '.depositd/embedded.yaml'), 'utf8')) as {
    networks: { name: string; family: 'evm' | 'solana'; assets: { contract: string }[] }[]
  }
  const targets = rows.flatMap(({ network: name, address }) => {
    const network = settings.networks.find((one) => one.name === name)
    const contracts = (network?.assets ?? [])
      .map(({ contract }) => contract)
      .filter((one) => one !== 'native')
    const rpcUrl = environment[`RPC_${name.toUpperCase()}`] ?? ''
    return network === undefined
      ? []
      : [{ family: network.family, network: name, rpcUrl, address, contracts }]
  })
  const found = targets.map((target) =>
    target.family === 'evm' ? evmPayments(target) : solanaPayments(target),
  )
  return (await Promise.all(found)).flat()
}

/** A share of one that the seed decides. */
function moment(count: number): number {
  const fraction = Math.sin(seed * 12.9898 + count * 78.233) * 43_758.5453
  return fraction - Math.floor(fraction)
}

/** The random moment is the point here; nothing can be awaited instead. */
function wait(milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, milliseconds)
  return promise
}
