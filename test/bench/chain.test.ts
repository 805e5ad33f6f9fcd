import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { leastRequests } from '../../bench/chain/least.ts'
import { scriptedChain } from '../support/scripted-evm-chain.ts'
import { namesOf, program, type Smoked, smoke } from './run-bench.ts'

const run = promisify(execFile)

type Row = { blocksMax: number; least: { requests: number }; requests: { ours: number; logQueries: number } }

test('the chain bench reads a small chain under every limit, and each arm finds all of it', async () => {
  const { report, figures } = (await smoke('chain')) as Smoked<{ rows: Row[]; invariants: string }>
  const { rows, invariants } = report
  expect(rows.map(({ blocksMax }) => blocksMax)).toEqual([10, 2000, 10_000])
  expect(invariants).toMatch(/^held/)
  // What is asked beside the least is a fixed number of headers for each scan.
  for (const { least, requests } of rows) expect(requests.ours).toBeLessThan(least.requests * 1.15 + 30)
  expect(namesOf(figures)).toHaveLength(9)
  expect(namesOf(figures)).toContain('B6 2,000 blocks: requests x the least')
}, 120_000)

test('the bench of blocks of Solana reads the same transactions both ways', async () => {
  const { figures } = await smoke('chain blocks')
  expect(namesOf(figures)).toEqual(['ours x all transactions of a block'])
})

test('the chain bench reads a small ledger of Solana, and each arm finds all of it', async () => {
  const { report, figures } = (await smoke('chain solana')) as Smoked<{ invariants: string }>
  expect(report.invariants).toMatch(/^held/)
  expect(namesOf(figures)).toEqual([
    'B6 Solana: ours x bare',
    'B6 Solana: ours x sequential',
    'B6 Solana: requests x the least',
  ])
}, 120_000)

test('a bench that does not exist is refused with those that do', async () => {
  await expect(run(process.execPath, [program, 'chains'])).rejects.toThrow(/NAME is one of: .*chain solana/)
})

test('the least number of requests keeps both limits', () => {
  const settings = { seed: 1, blocks: 1001, addresses: 10, transfers: 400, others: 100 }
  const chain = scriptedChain(settings)
  const headers = Math.ceil(new Set(chain.transfers.map(({ height }) => height)).size / 20)
  expect(leastRequests(chain, { blocksMax: 100, resultsMax: 10_000 })).toEqual({
    logQueries: 10,
    requests: 13 + headers,
  })
  expect(leastRequests(chain, { blocksMax: 1000, resultsMax: 100 }).logQueries).toBeGreaterThanOrEqual(5)
})
