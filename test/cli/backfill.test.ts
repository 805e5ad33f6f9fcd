import { toHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createReader } from '../../src/chain/reader.ts'
import { scanNetwork } from '../../src/jobs/chain/scan.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { base, channelAddress } from '../support/evidence.ts'
import { evmSettings } from '../support/evm-watch.ts'
import { temporaryFolder } from '../support/folder.ts'
import { settingsEnvironment } from '../support/judging-environment.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'

let anvil: Anvil
let books: Books
let environment: Record<string, string>
let paidAt: bigint

let token: TestToken

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'TKN')
  await token.send(toHex(BigInt(channelAddress), { size: 20 }), 7n)
  await anvil.mine()
  paidAt = await anvil.client.getBlockNumber()
  await anvil.mine(3)
})
afterAll(() => anvil.stop())

/** A daemon has read the chain and, by some fault, not stored the payment that is in it. */
beforeEach(async () => {
  books = await openBooks()
  const settings = evmSettings(anvil, { tokens: [token.address], native: false })
  const deps = {
    db: books.db,
    holder: 'daemon',
    leaseMs: 600_000,
    startHeights: new Map([[base, 1n]]),
    assets: new Map([[base, settings.assets.map(({ key }) => key)]]),
    now: () => new Date(),
  }
  const reader = createReader(settings)
  const blind = {
    ...reader,
    scan: async (request: Parameters<typeof reader.scan>[0]) => ({
      ...(await reader.scan(request)),
      transfers: [],
    }),
  }
  await scanNetwork(deps, blind)
  const networks = `networks:
  - { name: base, family: evm, chainId: 8453, assets: [{ symbol: TKN, contract: '${token.address}', decimals: 18 }] }
  - { name: quiet, family: evm, chainId: 1, assets: [{ symbol: ETH, contract: native, decimals: 18 }] }
`
  environment = {
    ...settingsEnvironment(books.url, await temporaryFolder(), networks),
    RPC_BASE: anvil.url,
  }
})
afterEach(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, environment)

test('backfill reads heights again while the daemon holds the network, and prints what is new', async () => {
  const { status, out, err } = await depositd(`backfill --network base --from 1 --to ${paidAt}`)
  expect(err).toBe(`base: read up to ${paidAt} of ${paidAt}; new chain transfers: 1\n`)
  const [summary, , line] = out.split('\n')
  expect(summary).toBe(`base from 1 to ${paidAt}: read again; new chain transfers: 1`)
  expect(line).toContain(`final  deposit  ${channelAddress}`)
  expect(status).toBe(0)
  const again = await depositd('backfill --network base --from 1 --json')
  expect(again.status).toBe(0)
  expect(JSON.parse(again.out)).toMatchObject({
    network: 'base',
    outcome: 'read',
    from: '1',
    stored: 0,
    news: [],
  })
})

test.each([
  ['--network other --from 1', '--network is "other"; use base'],
  ['--network quiet --from 1', '--network is "quiet"; use base'],
  ['--network base --from 3 --to 2', '--from 3 is above --to 2; give the lower height as --from'],
])('backfill %s is refused in one line', async (options, problem) => {
  const { status, out, err } = await depositd(`backfill ${options}`)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(`depositd: ${problem}`)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
})
