import { expect, test } from 'vitest'
import { page } from './page.ts'

/** How many facts and gaps each section of the interface page has, counted on the page itself. */
const counted: [string, number, number][] = [
  ['What the service does', 11, 0],
  ['Channel', 11, 0],
  ['Deposit address object (used by channels and StableWallets)', 5, 0],
  ['StableWallet', 4, 0],
  ['Deposit (proxy deposit)', 1, 1],
  ['Gaps in resource definitions', 0, 1],
  ['States and transitions', 0, 1],
  ['Endpoints', 3, 0],
  ['GET /v1/proxies/deposits', 2, 1],
  ['POST /v1/channels', 5, 1],
  ['POST /v1/stable-wallets', 5, 1],
  ['Other operations', 0, 2],
  ['Authentication', 6, 1],
  ['Events', 1, 1],
  ['Errors', 0, 1],
  ['Limits', 0, 1],
  ['Versioning', 1, 1],
]

test('every sentence and every row of the interface page is listed, in its section', () => {
  expect(page.map(({ name, facts, gaps }) => [name, facts.length, gaps.length])).toEqual(counted)
})

test('no fact is listed twice in a section', () => {
  for (const { facts } of page) expect(new Set(facts.map(({ says }) => says)).size).toBe(facts.length)
})

test('every gap says that something is not shown, and each of its questions is asked', () => {
  for (const { says, asks } of page.flatMap(({ gaps }) => gaps)) {
    expect(says).toMatch(/: not shown\.$/)
    const rest = asks.reduce((text, ask) => text.replace(ask, ''), says)
    expect(rest.replace(/^No states .+ are named\. /, '')).toMatch(/^(, |; | and |,? and )*: not shown\.$/)
  }
})
