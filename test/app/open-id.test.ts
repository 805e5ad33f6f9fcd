import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../src/sandbox/free-port.ts'
import { browserInstalled } from '../support/browser.ts'
import { startOpenIdProvider } from '../support/open-id-provider.ts'
import { openPeopleConsole, type PeopleConsole } from '../support/people-console.ts'

const stack = new AsyncDisposableStack()
let console: PeopleConsole

describe.skipIf(!browserInstalled())('sign-in by OpenID Connect, in Chromium', () => {
  beforeAll(async () => {
    console = await openPeopleConsole(async (url) => {
      const { issuer } = stack.use(await startOpenIdProvider(await freePort(0), url))
      return `signIn: { openId: { issuer: '${issuer}', clientId: depositd, roles: { finance: [accountant, viewer] } } }\n`
    })
    stack.use(console)
  }, 60_000)
  afterAll(() => stack.disposeAsync())

  test('a person has the roles of their groups, and signs nothing without a passkey of the register', async () => {
    await using visitor = await console.visitor()
    const { page, context } = visitor
    await signInAs(page, 'rita')
    await page.waitForURL(`${console.url}/`)
    await page.getByRole('link', { name: 'rita' }).click()
    expect(await page.locator('main').innerText()).toContain('Roles: accountant, viewer')
    await page.goto(`${console.url}/ledger`)
    await page.locator('#period').fill('2026-01')
    await page.getByRole('button', { name: 'Prepare' }).click()
    await page.getByText('you have no passkey at this address to sign with').waitFor()
    expect(await context.cookies(console.url)).toMatchObject([{ httpOnly: true, sameSite: 'Lax' }])
  })

  test('a name of the register brings no roles of the register', async () => {
    await using visitor = await console.visitor()
    const { page } = visitor
    await signInAs(page, 'max')
    await page.getByRole('link', { name: 'max' }).click()
    expect(await page.locator('main').innerText()).toMatch(/Roles: accountant, viewer$/m)
  })

  test('without a group that has a role, nobody is signed in', async () => {
    await using visitor = await console.visitor()
    const { page } = visitor
    await signInAs(page, 'sid')
    await page.getByText('no group of sid has a role here').waitFor()
    await page.goto(`${console.url}/you`)
    await page.waitForURL(`${console.url}/sign-in`)
  })

  test('an answer counts once, and only in the browser that asked', async () => {
    await using visitor = await console.visitor()
    const { page } = visitor
    const answered = page.waitForRequest(/open-id\/callback/)
    await signInAs(page, 'rita')
    const answer = (await answered).url()
    await page.waitForURL(`${console.url}/`)
    await using thief = await console.visitor()
    for (const one of [visitor, thief]) {
      await one.page.goto(`${console.url}/sign-in`)
      await one.page.goto(answer)
      await one.page.getByText('the sign-in took too long or was used already').waitFor()
    }
  })
})

async function signInAs(page: Page, name: string): Promise<void> {
  await page.goto(`${console.url}/sign-in`)
  await page.getByRole('link', { name: /^Sign in at 127/ }).click()
  await page.locator('input[name=login]').fill(name)
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
  await page.locator('button[type=submit]').click()
}
