import { expect, test } from 'vitest'
import type { ConsoleDepositFilter, ConsoleMismatchFilter } from '../../../src/ops/console/reader.ts'
import type { DepositListRow } from '../../../src/presentation/deposit.ts'
import { emptyReader, faultsOfPage, pageAt, startConsole } from '../../support/console-reader.ts'
import { emptyReading, readAs } from '../../support/ops-server.ts'

const deposit: DepositListRow = {
  id: '1',
  service: 'acme',
  state: 'settled',
  owner: 'acme/shop',
  network: 'base',
  asset_symbol: 'USDC',
  amount: '1',
  settlement: '',
  mismatches: '',
}
type Wish = ConsoleDepositFilter | ConsoleMismatchFilter

async function start(services: readonly string[]) {
  const wishes: Wish[] = []
  const url = await startConsole({
    services,
    deposits: (wish) => Promise.resolve(wishes.push(wish) ? [deposit] : []),
    mismatches: (wish) => Promise.resolve(wishes.push(wish) ? [] : []),
  })
  return { url, wishes }
}

test.each(['/deposits', '/mismatches'])('%s can be limited to one of several services', async (path) => {
  const { url, wishes } = await start(['default', 'acme'])
  const { text } = await pageAt(`${url}${path}?service=acme`)
  expect(wishes).toMatchObject([{ service: 'acme' }])
  expect(text).toContain('<option value="acme" selected>acme</option>')
  expect(faultsOfPage(text)).toEqual([])
  expect((await pageAt(`${url}${path}?service=acne`)).status).toBe(400)
})

test('a list of deposits names the service only if there are several', async () => {
  const several = await pageAt(`${(await start(['default', 'acme'])).url}/deposits`)
  expect(several.text).toMatch(/<th[^>]*>service</i)
  const one = await pageAt(`${(await start(['default'])).url}/deposits`)
  expect(one.text).not.toMatch(/<th[^>]*>service</i)
  expect(one.text).not.toContain('filter-service')
})

test('the page of networks shows how far each is read, what is missing, and its nodes', async () => {
  const { live, totals } = emptyReading
  const reading = {
    ...emptyReading,
    live: {
      ...live,
      streams: [{ name: 'scan/base', age: 30, progress: { head: 12_345, final: 12_300 } }],
      stages: [{ stage: 'finality', service: 'default', network: 'base', oldest: 200, unnamed: null }],
      mismatches: [
        {
          kind: 'coverage_gap',
          severity: 'warning',
          service: '',
          network: 'base',
          age: 'under_1h',
          count: 2,
          oldest: 9,
        },
      ],
    },
    totals: { ...totals, coverageGaps: [{ network: 'base', ranges: 2, heights: 1500 }] },
  }
  const gauges = await readAs(reading)()
  const reader = emptyReader()
  const url = await startConsole({
    networkSettings: [
      { name: 'base', chain: 'evm 8453', assets: ['ETH', 'USDC'], nodes: 1 },
      { name: 'solana', chain: 'solana 5eykt', assets: ['USDC'], nodes: 1 },
    ],
    overview: async () => ({ ...(await reader.overview()), gauges }),
    nodes: () =>
      Promise.resolve([{ network: 'base', node: 'node.example', score: 0.5, requests: 1234, errors: 2 }]),
  })
  const { text } = await pageAt(`${url}/networks`)
  const rows = text.split('<tr').map((row) => row.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '))
  const rowOf = (word: string) => rows.find((row) => row.includes(word)) ?? ''
  expect(rowOf('30 s ago')).toMatch(/base 30 s ago 12,345 12,300 3 min 1,500 blocks in 2 ranges 2 /)
  expect(rowOf('never')).toMatch(/solana never/)
  expect(rowOf('node.example')).toMatch(/base node.example 0.50 1,234 2 /)
  expect(rowOf('evm 8453')).toMatch(/base evm 8453 ETH, USDC 1/)
  expect(text).toContain('/mismatches?kind=coverage_gap&#38;network=base&#38;status=snoozed')
  expect(faultsOfPage(text)).toEqual([])
})
