import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { NetworkName } from '../../src/core/asset.ts'
import { type AnvilNode, startAnvil } from '../../src/sandbox/anvil.ts'
import { openEvmClient } from '../../src/sandbox/evm-faucet.ts'
import { identifyProcess } from '../../src/sandbox/processes.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runProgram } from '../support/programs.ts'
import { until } from '../support/until.ts'

const log = pino({ level: 'silent' })
const base = { name: 'base' as NetworkName, chainId: 8453, log }
const payee = '0x00000000000000000000000000000000000000aa'

test('a transaction is mined, becomes final and is there again, with its block, after a stop and a start', async () => {
  const folder = await temporaryFolder()
  const first = await startAnvil({ ...base, folder, blockMs: 100 })
  const hash = await pay(first, 5n)
  const receipt = await first.client.waitForTransactionReceipt({ hash })
  await until('the block is final', async () => {
    const { number } = await first.client.getBlock({ blockTag: 'finalized' })
    return number >= receipt.blockNumber || null
  })
  await first.stop()
  expect(identifyProcess(first.pid)).toBeNull()

  const second = await startAnvil({ ...base, folder, blockMs: 100 })
  expect(await second.client.getTransactionReceipt({ hash })).toMatchObject({ blockHash: receipt.blockHash })
  expect(await second.client.getBalance({ address: payee, blockTag: 'finalized' })).toBe(5n)
  await second.stop()
})

test('a chain of tens of megabytes is saved', { timeout: 60_000 }, async () => {
  const folder = await temporaryFolder()
  const first = await startAnvil({ ...base, folder })
  // A node accepts requests of up to 2 MB.
  const large = Array.from({ length: 8 }, (_none, place) => ({
    address: `0x${String(place + 1).padStart(40, 'a')}` as const,
    bytecode: `0x${randomBytes(900_000).toString('hex')}` as const,
  }))
  for (const one of large) await first.client.setCode(one)
  await first.stop()
  const second = await startAnvil({ ...base, folder })
  for (const { address, bytecode } of large)
    expect((await second.client.getCode({ address })) === bytecode).toBe(true)
  await second.stop()
})

test('what was mined a second before a kill of program and node is there after the next start', async () => {
  const folder = await temporaryFolder()
  const first = await runProgram('test/sandbox/fixtures/start-anvil.ts', folder)
  const client = openEvmClient(first.line, base.chainId)
  const [account] = await client.getAddresses()
  if (account === undefined) throw new Error('the node has no account')
  const hash = await client.sendTransaction({ account, to: payee, value: 7n })
  const { blockNumber } = await client.waitForTransactionReceipt({ hash })
  await until('the next block, by which its parent is saved', async () => {
    return (await client.getBlockNumber()) > blockNumber || null
  })
  const { pid } = JSON.parse(await readFile(join(folder, 'anvil.process.json'), 'utf8')) as { pid: number }
  await first.killHard()
  process.kill(pid, 'SIGKILL')

  const second = await startAnvil({ ...base, folder })
  expect(await second.client.getBalance({ address: payee })).toBe(7n)
  await second.stop()
})

test('a node left over by a killed program is ended by the next start', async () => {
  const folder = await temporaryFolder()
  const first = await runProgram('test/sandbox/fixtures/start-anvil.ts', folder)
  await first.killHard()
  const { pid } = JSON.parse(await readFile(join(folder, 'anvil.process.json'), 'utf8')) as { pid: number }
  expect(identifyProcess(pid)).not.toBeNull()
  const second = await startAnvil({ ...base, folder })
  expect(identifyProcess(pid)).toBeNull()
  await second.stop()
})

test('a chain file that cannot be read is a fault with the words of the node', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'chain.json.gz'), gzipSync('{"block":'))
  await expect(startAnvil({ ...base, folder })).rejects.toThrow(/starting the chain of base.*EOF/)
})

async function pay({ client }: AnvilNode, value: bigint) {
  const [account] = await client.getAddresses()
  if (account === undefined) throw new Error('the node has no account')
  return client.sendTransaction({ account, to: payee, value })
}
