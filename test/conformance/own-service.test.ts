import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOwnServices } from './own-service.ts'
import { page } from './page.ts'
import { type Result, testEveryFact, type Verdict } from './suite.ts'

const stack = new AsyncDisposableStack()
const facts = page.flatMap(({ name, facts: stated }) => stated.map(({ says }) => ({ section: name, says })))
let results: Record<'http' | 'https', Result[]>

beforeAll(async () => {
  const { http, https } = await startOwnServices(stack)
  const [inClear, secure] = await Promise.all([testEveryFact(http), testEveryFact(https)])
  results = { http: inClear, https: secure }
}, 180_000)
afterAll(() => stack.disposeAsync())

test.each(facts)('$section: $says', ({ section, says }) => {
  expect(verdictOf('https', section, says)).toEqual(unseen.get(says) ?? holds)
})

test('in the clear everything holds just so, but that all calls are made over HTTPS', () => {
  for (const { section, says } of facts) {
    const expected = says === overHttps ? notChecked('needs a --url that begins with https://') : null
    expect(verdictOf('http', section, says), says).toEqual(expected ?? unseen.get(says) ?? holds)
  }
})

function verdictOf(scheme: 'http' | 'https', section: string, says: string): Verdict | undefined {
  return results[scheme].find((one) => one.section === section && one.says === says)?.verdict
}

const overHttps = 'All calls are made over HTTPS against {base_url}'
const holds = { kind: 'holds' }
const notChecked = (reason: string) => ({ kind: 'not checked', reason })

/** What cannot be looked at, and why. */
const unseen = new Map([
  ['A StableWallet is a self-custodial wallet.', notChecked('who holds the keys cannot be seen by calls')],
])
