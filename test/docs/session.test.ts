import { describe, expect, test } from 'vitest'
import { runSession } from '../support/session.ts'
import { curlInstalled } from '../support/shell.ts'
import { sessionPage, withSession } from '../support/write-session.ts'
import { readText } from './pages.ts'

describe.skipIf(!curlInstalled())('with curl', () => {
  test('the session of the page is what a shell gets from the service', { timeout: 300_000 }, async () => {
    const page = readText(sessionPage)
    expect(page, 'run "npm run docs" and read the difference').toBe(withSession(page, await runSession()))
  })
})
