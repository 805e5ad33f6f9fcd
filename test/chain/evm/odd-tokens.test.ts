import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Abi, encodeAbiParameters, type Hex, keccak256, numberToHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import { type Anvil, rich, startAnvil } from '../../support/anvil.ts'
import { addresses, drain, evmSettings } from '../../support/evm-watch.ts'
import { placeCode } from '../../support/small-contracts.ts'
import { deployToken } from '../../support/test-token.ts'

const alice = '0x00000000000000000000000000000000000a11ce'
const other = '0x0000000000000000000000000000000000000b0b'

const folder = join(import.meta.dirname, '../../../node_modules/@openzeppelin/contracts/build/contracts')
const artifact = (name: string) =>
  JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as { abi: Abi; bytecode: Hex }
const preset = artifact('ERC20PresetMinterPauser')
const splitter = artifact('PaymentSplitter')

let anvil: Anvil
/** A token whose code is elsewhere: a minimal proxy (EIP-1167) before a real one. */
let token: Hex
/** A contract that pays its tokens out to two, whoever asks it to. */
let payer: Hex

/** Where the preset keeps its balances: behind the roles and their members. */
const balancesSlot = 2n

beforeAll(async () => {
  anvil = await startAnvil()
  const { address } = await deployToken(anvil, 'USDC')
  token = await placeCode(anvil, `0x363d3d373d3d3d363d73${address.slice(2)}5af43d82803e903d91602b57fd5bf3`)
  const args = [
    [alice, other],
    [1n, 2n],
  ]
  const hash = await anvil.client.deployContract({ ...splitter, args })
  await anvil.mine()
  payer = (await anvil.client.getTransactionReceipt({ hash })).contractAddress ?? '0x'
  // A proxy has storage of its own, in which nobody may mint.
  const index = keccak256(
    encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [rich.address, balancesSlot]),
  )
  await anvil.client.setStorageAt({ address: token, index, value: numberToHex(1000n, { size: 32 }) })
  await call(token, preset.abi, ['transfer', payer, 9n])
  await anvil.mine(3)
})
afterAll(() => anvil.stop())

function call(address: Hex, abi: Abi, [functionName, ...args]: [string, ...unknown[]]): Promise<Hex> {
  return anvil.client.writeContract({ address, abi, functionName, args, gas: 300_000n })
}

test('tokens behind a proxy, moved by a contract at the call of somebody else, are found', async () => {
  const reader = createEvmReader(evmSettings(anvil, { tokens: [token] }))
  const watched = addresses(alice)
  const { cursor } = await drain(reader, watched, { cursor: null })
  const tx = await call(payer, splitter.abi, ['release', token, alice])
  await anvil.mine(3)
  const { transfers } = await drain(reader, watched, { cursor })
  const found = { tx, asset: `base/${token}`, from: payer, to: alice, amount: 3n }
  expect(transfers).toHaveLength(1)
  expect(transfers).toMatchObject([{ ...found, stage: 'final' }])
  const height = transfers[0]?.height ?? 0n
  const index = transfers[0]?.index
  // A trace sees no coin move, and a log counts no more for being traced.
  const range = { from: height, to: height }
  const traced = await reader.readRange({ ...range, watched, traced: true })
  expect(traced.transfers).toMatchObject([{ ...found, index }])
  const movements = await reader.readMovements({ ...range, addresses: addresses(payer) })
  expect(movements).toMatchObject([{ asset: `base/${token}`, change: -3n, index }])
  const pairs = [...addresses(alice, payer)].map((address) => ({ address, asset: found.asset as never }))
  expect((await reader.readBalances({ pairs, at: { height } })).balances).toEqual([3n, 6n])
})
