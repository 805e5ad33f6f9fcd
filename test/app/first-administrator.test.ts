import { describe, expect, test } from 'vitest'
import { readFrom } from '../../src/config/environment.ts'
import { readPeople } from '../../src/config/environment-settings.ts'
import { decisionsCheck } from '../../src/jobs/people/check-decisions.ts'
import { browserInstalled } from '../support/browser.ts'
import { formTokenOf, openPeopleConsole } from '../support/people-console.ts'

describe.skipIf(!browserInstalled())('the first administrator, in Chromium', () => {
  test('enters the register by a passkey alone, once; later links enter nobody', async () => {
    await using console = await openPeopleConsole(undefined, false)
    const linkFor = async (name: string) => {
      const { out } = await console.withoutKey(`people invite ${name} --admin --roles accountant`)
      return /http:\S+/.exec(out)?.[0] ?? ''
    }
    const [first, late] = [await linkFor('ada'), await linkFor('zoe')]
    await using ada = await console.visitor()
    await using zoe = await console.visitor()
    for (const [{ page }, link] of [
      [ada, first],
      [zoe, late],
    ] as const) {
      await page.goto(link)
      await page.getByRole('button', { name: 'Make a passkey' }).click()
      await page.getByRole('button', { name: 'Sign and enter' }).waitFor()
    }
    await ada.page.getByRole('button', { name: 'Sign and enter' }).click()
    await ada.page.getByRole('heading', { name: 'You are the first administrator' }).waitFor()
    const [, key = ''] = /ADMINISTRATOR_KEY="(.*)"/.exec(await ada.page.locator('pre').innerText()) ?? []
    expect(readFrom({ ADMINISTRATOR_KEY: key }, readPeople).administratorKey).toBe(key)
    await zoe.page.getByRole('button', { name: 'Sign and enter' }).click()
    await zoe.page.getByText('is not in the register of people').waitFor()
    const { out } = await console.withoutKey('people list')
    expect(out).toMatch(/ada +administrator, accountant/)
    expect(out).not.toContain('zoe')
    expect((await console.withoutKey('people invite kim --admin')).err).toContain(
      'there is an administrator already',
    )
    expect(await decisionsCheck(key).run(console.books.owner, () => undefined)).toMatchObject({
      findings: [],
    })
    await ada.page.getByRole('link', { name: 'Sign in' }).last().click()
    await ada.page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await ada.page.waitForURL(`${console.url}/`)
    expect(ada.faults).toEqual([])
  })

  test('invites, confirms, changes and removes people at the console, and makes tokens for programs', async () => {
    await using console = await openPeopleConsole()
    await using ada = await console.joined('ada', 'administrator')
    await using kim = await console.visitor()
    const { page } = ada
    const goTo = (path: string) => page.goto(console.url + path)
    await goTo('/people')
    const invite = page.locator('form').filter({ has: page.getByRole('button', { name: 'Invite' }) })
    await invite.getByLabel('Name').fill('kim')
    await invite.getByLabel('viewer').check()
    await invite.getByRole('button').click()
    await kim.page.goto(await page.locator('pre').innerText())
    await kim.page.getByRole('button', { name: 'Make a passkey' }).click()
    const code = await kim.page.locator('.code').innerText()
    await goTo('/people')
    await page.getByRole('button', { name: `They read ${code} to me` }).click()
    const sign = async () => {
      await page.getByRole('button', { name: 'Sign and carry out' }).click()
      await page.getByText('done', { exact: true }).waitFor()
      await goTo('/people')
    }
    await sign()
    expect(await page.getByRole('button', { name: /They read/ }).count()).toBe(0)
    await kim.page.goto(`${console.url}/sign-in`)
    await kim.page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await kim.page.waitForURL(`${console.url}/`)
    const change = page.locator('form').filter({ has: page.getByRole('button', { name: /change of roles/ }) })
    await change.getByLabel('Person').selectOption('kim')
    await change.getByLabel('auditor').check()
    await change.getByRole('button').click()
    await sign()
    await page.getByRole('row', { name: /kim auditor passkeys: 1/ }).waitFor()
    const remove = page.locator('form').filter({ has: page.getByRole('button', { name: /removal/ }) })
    await remove.getByLabel('Person').selectOption('kim')
    await remove.getByRole('button').click()
    await sign()
    await kim.page.goto(`${console.url}/you`)
    await kim.page.waitForURL(`${console.url}/sign-in`)

    await goTo('/tokens')
    await page.getByLabel('Name').fill('shop')
    await page.getByLabel('read_deposits').check()
    await page.getByRole('button', { name: 'Make the token' }).click()
    expect(await page.locator('pre').innerText()).toMatch(/^depositd_[\w-]{43}$/)
    await goTo('/tokens')
    await page.getByRole('button', { name: 'Revoke shop' }).click()
    await page.getByRole('button', { name: 'Revoke shop' }).waitFor({ state: 'detached' })
    const { out } = await console.withoutKey('api token list')
    expect(out).toMatch(/shop +read_deposits +all +all .* ada .*Z/)
    expect(ada.faults).toEqual([])
    await using vera = await console.joined('vera', 'auditor')
    await vera.page.goto(`${console.url}/you`)
    const form = { form: await formTokenOf(vera) }
    for (const [path, fields] of [
      ['/people', { action: 'invite', person: 'eve', 'role-administrator': 'yes' }],
      ['/people', { action: 'remove', person: 'ada' }],
      ['/tokens', { name: 'eve', 'scope-read_books': 'yes' }],
    ] as const)
      expect(await console.sent(vera, path, { fields: { ...form, ...fields } })).toMatchObject({
        status: 403,
      })
  })
})
