import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOwnService } from './own-service.ts'
import { page } from './page.ts'
import { type Result, testEveryFact } from './suite.ts'

const stack = new AsyncDisposableStack()
const facts = page.flatMap(({ name, facts: stated }) => stated.map(({ says }) => ({ section: name, says })))
let results: Result[]

beforeAll(async () => {
  results = await testEveryFact(await startOwnService(stack))
}, 180_000)
afterAll(() => stack.disposeAsync())

test.each(facts)('$section: $says', ({ section, says }) => {
  const result = results.find((one) => one.section === section && one.says === says)
  const verdict = result?.verdict ?? { kind: 'broken', problem: 'it was not looked at' }
  expect(verdict).toEqual(unseen.get(says) ?? { kind: 'holds' })
})

const notChecked = (reason: string) => ({ kind: 'not checked', reason })

/** What cannot be looked at, and why. */
const unseen = new Map([
  ['A StableWallet is a self-custodial wallet.', notChecked('who holds the keys cannot be seen by calls')],
  ['The channel does this unless a policy overrides it.', notChecked('needs --hold')],
  ['Its balance is available on all networks at the same time.', notChecked('needs --withdraw')],
  [
    'Progress of transfers can be followed through webhooks instead of polling.',
    notChecked('needs --webhook'),
  ],
  [
    'The service offers webhooks to track a transfer from start to finish without polling.',
    notChecked('needs --webhook'),
  ],
  ['All calls are made over HTTPS against {base_url}', notChecked('needs a --url that begins with https://')],
])
