import { expect, test } from 'vitest'
import type { ConsoleDepositFilter, ConsoleMismatchFilter } from '../../../src/ops/console/reader.ts'
import type { DepositListRow } from '../../../src/presentation/deposit.ts'
import { faultsOfPage, pageAt, startConsole } from '../../support/console-reader.ts'

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
