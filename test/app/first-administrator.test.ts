import { describe, expect, test } from 'vitest'
import { readFrom } from '../../src/config/environment.ts'
import { readPeople } from '../../src/config/environment-settings.ts'
import { decisionsCheck } from '../../src/jobs/people/check-decisions.ts'
import { browserInstalled } from '../support/browser.ts'
import { openPeopleConsole } from '../support/people-console.ts'

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
})
