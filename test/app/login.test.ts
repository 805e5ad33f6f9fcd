import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { browserInstalled } from '../support/browser.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openPeopleConsole } from '../support/people-console.ts'

describe.skipIf(!browserInstalled())('a command line that is logged in, in Chromium', () => {
  test('works on cases as the person who allowed it, until they sign out, and signs nothing', async () => {
    await using console = await openPeopleConsole()
    const config = await temporaryFolder()
    const depositd = (line: string) => console.withoutKey(line, config)
    expect((await depositd('mismatches comment 1 mine')).err).toContain('"bin/depositd login" is enough')
    const linked = Promise.withResolvers<string>()
    const login = console.withoutKey('login', config, (error) => linked.resolve(error))
    const [, code = '', link = ''] = /code (\S+):\n(\S+)/.exec(await linked.promise) ?? []
    await using olga = await console.joined('olga', 'operator')
    await using visitor = await console.visitor()
    await visitor.page.goto(link)
    await visitor.page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
    await olga.page.goto(link)
    expect(await olga.page.locator('.code').innerText()).toBe(code)
    await olga.page.getByRole('button', { name: 'Allow' }).click()
    await olga.page.getByRole('heading', { name: 'The command line works as olga' }).waitFor()
    expect(await login).toMatchObject({ status: 0, out: 'logged in as olga, for 12 hours\n' })
    expect(olga.faults).toEqual([])
    expect(statSync(join(config, 'depositd', 'session')).mode & 0o777).toBe(0o600)
    await olga.page.goto(link)
    await olga.page.getByRole('button', { name: 'Allow' }).click()
    await olga.page.getByText('this link was used already').waitFor()
    expect((await depositd('mismatches comment 1 mine')).out).toContain('commented by olga\n')
    expect((await depositd('ledger close 2026-01')).err).toContain('no SIGNING_KEY is set')
    expect((await depositd('logout')).out).toBe('logged out\n')
    expect((await depositd('mismatches comment 1 mine')).err).toContain('no SIGNING_KEY is set')
    expect((await console.asErin('people log --person olga --json')).out).toContain(
      '"detail": "command line"',
    )
  })

  test('a session that an administrator ended is over at the command line too', async () => {
    await using console = await openPeopleConsole()
    const config = await temporaryFolder()
    const linked = Promise.withResolvers<string>()
    const login = console.withoutKey('login', config, (error) => linked.resolve(error))
    const [link = ''] = /http:\S+/.exec(await linked.promise) ?? []
    await using kim = await console.joined('kim', 'viewer')
    await kim.page.goto(link)
    await kim.page.getByRole('button', { name: 'Allow' }).click()
    await login
    expect((await console.withoutKey('mismatches comment 1 mine', config)).err).toContain(
      'kim is no operator',
    )
    await console.asErin('people sign-out kim')
    expect((await console.withoutKey('mismatches comment 1 mine', config)).err).toContain('has ended')
  })
})
