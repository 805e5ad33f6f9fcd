import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { draftDecision } from '../../src/jobs/people/decide.ts'
import { browserInstalled } from '../support/browser.ts'
import { decisionDeps, journalRequest, signers } from '../support/people.ts'
import { formTokenOf, openPeopleConsole, type PeopleConsole } from '../support/people-console.ts'

let console: PeopleConsole

describe.skipIf(!browserInstalled())('attacks on the console, in Chromium', () => {
  beforeAll(async () => {
    console = await openPeopleConsole()
  }, 60_000)
  afterAll(() => console[Symbol.asyncDispose]())

  test('nobody approves their own decision, and a signature is of one decision', async () => {
    await using tom = await console.joined('tom', 'approver,accountant')
    const { page } = tom
    const [first, second] = [
      await console.requestJournal('replay-1'),
      await console.requestJournal('replay-2'),
    ]
    await page.goto(`${console.url}/decisions/${first}`)
    const form = await formTokenOf(tom)
    const posted = page.waitForRequest((request) => request.method() === 'POST')
    await page.getByRole('button', { name: 'Approve and sign' }).click()
    const { passkey = '' } = (await posted).postDataJSON() as Record<string, string>
    await page.getByText('done', { exact: true }).waitFor()
    const replayed = await console.sent(tom, `/decisions/${second}/approve`, { fields: { form, passkey } })
    expect(replayed).toMatchObject({ status: 403, text: expect.stringContaining('not of this text') })
    const again = await console.sent(tom, `/decisions/${first}/approve`, { fields: { form, passkey } })
    expect(again).toMatchObject({ status: 409, text: expect.stringContaining(`decision ${first} is done`) })
    const rejected = await console.sent(tom, `/decisions/${second}/reject`, {
      fields: { form, reason: 'twice' },
    })
    expect(rejected.status).toBe(303)
    expect((await console.asErin(`decisions show ${second}`)).out).toContain('rejected by tom')
  })

  test('a viewer changes nothing, whatever they send', async () => {
    await using vera = await console.joined('vera', 'viewer')
    const { page } = vera
    const id = await console.requestJournal('escalated')
    await page.goto(`${console.url}/decisions/${id}`)
    expect(await page.getByRole('button', { name: 'Approve and sign' }).count()).toBe(0)
    const form = await formTokenOf(vera)
    await page.goto(`${console.url}/mismatches/1`)
    expect(await page.getByRole('button', { name: 'Comment' }).count()).toBe(0)
    const comment = { form, action: 'commented', text: 'mine' }
    expect(await console.sent(vera, '/mismatches/1', { fields: comment })).toMatchObject({ status: 403 })
    expect(
      await console.sent(vera, `/decisions/${id}/reject`, { fields: { form, reason: 'no' } }),
    ).toMatchObject({
      status: 409,
      text: expect.stringContaining('vera is no approver'),
    })
  })

  test('an operator works on a case; other sites, and who stole an ended session, do not', async () => {
    await using olga = await console.joined('olga', 'operator')
    const { page, context } = olga
    await page.goto(`${console.url}/mismatches/1`)
    await page.getByRole('button', { name: 'Assign', exact: true }).click()
    await page.getByRole('button', { name: 'Give it back' }).waitFor()
    await page.getByLabel('Comment').fill('wrote to the service')
    await page.getByRole('button', { name: 'Comment' }).click()
    await page.getByText('wrote to the service').waitFor()
    const form = await formTokenOf(olga)
    const comment = { form, action: 'commented', text: 'forged' }
    const path = '/mismatches/1'
    const foreign = { 'sec-fetch-site': 'cross-site' }
    expect(await console.sent(olga, path, { fields: comment, headers: foreign })).toMatchObject({
      status: 403,
    })
    expect(await console.sent(olga, path, { fields: { ...comment, form: 'x' } })).toMatchObject({
      status: 403,
    })
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', path: '/' })
    expect(cookie?.name).toMatch(/^__Host-/)
    await page.goto(`${console.url}/you`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${console.url}/sign-in`)
    await context.clearCookies()
    await context.addCookies(cookie === undefined ? [] : [cookie])
    expect(await console.sent(olga, path, { fields: comment })).toMatchObject({ status: 401 })
  })

  test('what the console does not offer is not requested through it', async () => {
    await using kim = await console.joined('kim', 'operator,administrator')
    const { page } = kim
    await page.goto(`${console.url}/you`)
    const form = await formTokenOf(kim)
    const change = { reason: 'mine' }
    const grounds = { evidence: null, books: [] }
    const content = {
      ...(await draftDecision(
        decisionDeps(console.books.owner, ['assets:bank:main']),
        journalRequest(),
        signers.erin,
      )),
      kind: 'restore',
      change,
      people: 1,
      grounds,
    }
    const texts = Buffer.from(JSON.stringify([`${JSON.stringify(content, null, 2)}\n`])).toString('base64url')
    const passkey = JSON.stringify({
      id: 'x',
      response: { authenticatorData: '', clientDataJSON: '', signature: '' },
    })
    expect(await console.sent(kim, '/decisions', { fields: { form, texts, passkey } })).toMatchObject({
      status: 403,
      text: 'this is no decision that the console requests\n',
    })
    for (const fields of [
      { action: 'write_off', mismatch: '3', account: 'expenses:gifts', reason: 'x' },
      { action: 'write_off', mismatch: 'x', account: 'owner', reason: 'x' },
      { action: 'reopened', period: '2026-01', reason: '' },
    ])
      expect(await console.sent(kim, '/decisions/draft', { fields: { form, ...fields } })).toMatchObject({
        status: 400,
      })
  })

  test('sessions end with an administrator, and with the removal of the person', async () => {
    await using uma = await console.joined('uma', 'operator')
    const { page } = uma
    expect((await console.asErin('people sign-out uma')).out).toBe('1 sessions of uma are ended\n')
    await page.goto(console.url)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('link', { name: 'uma' }).waitFor()
    await console.asErin('people remove uma')
    await page.goto(console.url)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('no person of the register has this passkey').waitFor()
  })

  test('who came and went is listed, and stays', async () => {
    await using nora = await console.joined('nora', 'viewer')
    await nora.page.goto(`${console.url}/you`)
    await nora.page.getByRole('button', { name: 'Sign out' }).click()
    await nora.page.waitForURL(`${console.url}/sign-in`)
    await console.asErin('people sign-out nora')
    const { out } = await console.asErin('people log --person NORA')
    const events = out.trim().split('\n').slice(1)
    expect(events.map((line) => line.split(/ +/).slice(2, 4).join(' '))).toEqual([
      'sessions_ended erin',
      'signed_out',
      'signed_in passkey',
      expect.stringMatching(/^passkey_made [0-9a-f-]{14}$/),
      'invited erin',
    ])
    await expect(sql`delete from access_event`.execute(console.books.db)).rejects.toThrow('permission denied')
  })

  test('an address of this machine leads to its name, which passkeys are bound to', async () => {
    const page = `${console.url.replace('localhost', '127.0.0.1')}/sign-in?to=/decisions`
    const { status, headers } = await fetch(page, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([303, `${console.url}/sign-in?to=/decisions`])
  })

  test('sign-ins are limited per client', async () => {
    const statuses = new Set<number>()
    for (let count = 0; count < 130; count++) statuses.add((await fetch(`${console.url}/sign-in`)).status)
    expect(statuses).toEqual(new Set([200, 429]))
    expect((await fetch(console.url)).status).toBe(200)
  })
})
