import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultService } from '../../src/core/evidence.ts'
import { verifyBundle } from '../../src/evidence/verify-bundle.ts'
import { activateRules } from '../../src/jobs/books/activate-rules.ts'
import { keepQuarantined } from '../../src/store/quarantine.ts'
import { serveBooks } from '../support/books-console.ts'
import { runCommand } from '../support/command.ts'
import { type ConsoleClient, consoleClient } from '../support/console-client.ts'
import { faultsOfPage } from '../support/console-reader.ts'
import { makeBundleOfTwo, verifyDocument } from '../support/evidence-bundle.ts'
import { type EvidenceWorld, openEvidenceWorld } from '../support/evidence-world.ts'
import { makeSecret, signStandardWebhook } from '../support/sign-webhook.ts'

const node = 'https://operator:long-secret-of-the-node@base.example/v2/key-0123456789abcdef'

/** The console of books whose evidence came as a service sends it. */
let world: EvidenceWorld
let signedIn: ConsoleClient['signedIn']
let got: ConsoleClient['got']
let sent: ConsoleClient['sent']
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  world = stack.use(await openEvidenceWorld())
  expect((await makeBundleOfTwo(world)).made.status).toBe(0)
  const { db, deps } = world.books
  await activateRules({ db, rules: deps.rules, now: () => new Date() })
  const url = await serveBooks(world.books, stack, { ...world.environment, RPC_BASE: node })
  ;({ signedIn, got, sent } = consoleClient(url, world.books))
})
afterAll(() => stack.disposeAsync())

describe('the active settings', () => {
  test('are for auditors and administrators, and linked for them', async () => {
    const [olaf, aud] = [await signedIn('olaf', 'operator', 'accountant'), await signedIn('aud', 'auditor')]
    const refused = [await got('/settings'), await got('/settings', olaf)]
    expect(refused.map(({ status }) => status)).toEqual([401, 403])
    expect((await got('/services', olaf)).text).not.toContain('/settings')
    expect((await got('/services', aud)).text).toContain('href="/settings"')
  })

  test('have the active rules and since when, and no secret', async () => {
    const { status, text } = await got('/settings', await signedIn('ruth', 'administrator'))
    expect([status, faultsOfPage(text)]).toEqual([200, []])
    const { rows } = await sql<{ rules: object; since: Date }>`
      select rules, since from accounting.rule_sets order by id desc limit 1`.execute(world.books.db)
    const [, shown = ''] = /<pre tabindex="0">(.*?)<\/pre>/s.exec(text) ?? []
    expect(JSON.parse(shown.replaceAll('&#34;', '"'))).toEqual(rows[0]?.rules)
    expect(text).toContain(`<time datetime="${rows[0]?.since.toISOString()}">`)
    expect(text).toContain('standard-webhooks')
    const secrets = [world.secret, world.secret.replace('whsec_', ''), world.books.url, 'base.example', node]
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
  })
})

describe('the doctor', () => {
  test('is for operators and administrators, by a form of their own page', async () => {
    const [vera, olaf] = [await signedIn('vera', 'viewer', 'auditor'), await signedIn('olaf', 'operator')]
    expect((await got('/services', vera)).text).not.toContain('/doctor')
    expect((await got('/services', olaf)).text).toContain('href="/doctor"')
    const refused = [await got('/doctor'), await got('/doctor', vera), await sent('/doctor', vera)]
    expect(refused.map(({ status }) => status)).toEqual([401, 403, 403])
    expect((await sent('/doctor', olaf, { form: 'of another site' })).status).toBe(403)
    expect((await got('/doctor', olaf)).text).toContain('Nothing was checked')
  })

  test('says what the command line says, each problem with its fix, and no secret', async () => {
    const adam = await signedIn('adam', 'administrator')
    const answers = await Promise.all([sent('/doctor', adam), sent('/doctor', adam)])
    const [{ status, text }, other] = answers
    // A fix names schemes of addresses.
    expect([status, faultsOfPage(text.replaceAll(/https?:\/\//g, ''))]).toEqual([200, []])
    const [from, to] = [text.indexOf('As of'), text.indexOf('</table>')]
    expect(other.text.slice(from, to)).toBe(text.slice(from, to))
    const environment = { ...world.environment, RPC_BASE: node }
    const { checks } = JSON.parse((await runCommand('doctor --json', environment)).out) as {
      checks: { check: string; state: string; fix: string }[]
    }
    const rows = [...text.matchAll(/<tr role="row">(<td.*?)<\/tr>/gs)].map(([, cells = '']) =>
      cells.split('</td>').map((cell) => unescaped(cell.replaceAll(/<[^>]+>/g, ''))),
    )
    expect(checks.some(({ state }) => state === 'fault')).toBe(true)
    expect(rows.map(([check, state, _says, fix]) => `${check}|${state}|${fix}`).toSorted()).toEqual(
      checks.map(({ check, state, fix }) => `${check}|${state}|${fix}`).toSorted(),
    )
    const secrets = [
      world.secret,
      world.secret.replace('whsec_', ''),
      world.books.url,
      'long-secret',
      'key-01',
    ]
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
  })
})

function unescaped(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)))
}

const retry = (headers: Record<string, string> = {}, form?: string) =>
  sent('/webhooks', headers, form === undefined ? {} : { form })

describe('the retry of webhooks in quarantine', () => {
  test('is for operators and administrators, by a form of their own page', async () => {
    await quarantine('genuine', world.secret)
    const [vera, olaf] = [await signedIn('vera', 'viewer'), await signedIn('olaf', 'operator')]
    expect((await got('/webhooks', olaf)).text).toContain('Retry all')
    expect((await got('/webhooks', vera)).text).not.toContain('Retry all')
    const refused = [await retry(), await retry(vera), await retry(olaf, 'of another site')]
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403])
    expect(await quarantined()).toBe(1n)
  })

  test('accepts the genuine ones once, however many people ask for it, and keeps the others', async () => {
    await quarantine('forged', makeSecret())
    const adam = await signedIn('adam', 'administrator')
    const answers = await Promise.all(Array.from({ length: 10 }, () => retry(adam)))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    const said = '<li>1 accepted</li><li>1 still refused: signature_wrong</li>'
    expect(answers.some(({ text }) => text.includes(said))).toBe(true)
    expect(faultsOfPage(answers[0]?.text ?? '')).toEqual([])
    expect(await quarantined()).toBe(1n)
    const { rows } = await sql<{ key: string; repeats: bigint }>`
      select source_key as key, (select count(*) from webhook_repeat where inbox_id = inbox.id) as repeats
      from inbox where source_key in ('genuine', 'forged')`.execute(world.books.db)
    expect(rows).toEqual([{ key: 'genuine', repeats: 0n }])
    expect(await acts('webhooks_retried')).toContainEqual({
      person: 'adam',
      detail: '1 accepted, 1 still refused: signature_wrong',
    })
  })
})

describe('a webhook in quarantine', () => {
  test('is shown as it was received, without the form for those who may not drop it', async () => {
    const { rows } = await sql<{ id: bigint }>`select max(id) as id from quarantine`.execute(world.books.db)
    const path = `/webhooks/${rows[0]?.id}`
    const vera = await signedIn('vera', 'viewer')
    expect((await got('/webhooks', vera)).text).toContain(`href="${path}"`)
    const { text } = await got(path, vera)
    expect(faultsOfPage(text)).toEqual([])
    for (const said of ['signature_wrong', '{&#34;event&#34;:&#34;forged&#34;}', 'webhook-signature'])
      expect(text).toContain(said)
    expect(text).not.toContain('Drop')
    expect((await sent(path, vera, { reason: 'mine' })).status).toBe(403)
    expect(await quarantined()).toBe(1n)
  })

  test('is dropped with a reason, once, and both are in the audit log', async () => {
    const { rows } = await sql<{ id: bigint }>`select max(id) as id from quarantine`.execute(world.books.db)
    const path = `/webhooks/${rows[0]?.id}`
    const olaf = await signedIn('olaf', 'operator')
    expect((await sent(path, olaf)).status).toBe(400)
    expect((await got(path, olaf)).text).toContain('<button type="submit">Drop</button>')
    const answers = await Promise.all([1, 2, 3].map(() => sent(path, olaf, { reason: 'forged' })))
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(2)
    expect(await quarantined()).toBe(0n)
    expect(await acts('webhooks_dropped')).toEqual([
      { person: 'olaf', detail: `webhooks ${rows[0]?.id}: forged` },
    ])
  })
})

async function quarantine(id: string, secret: string): Promise<void> {
  const [body, receivedAt] = [Buffer.from(`{"event":"${id}"}`), new Date()]
  const headers = signStandardWebhook({ secret, id, body, at: receivedAt })
  const row = { service: defaultService, headers, body, receivedAt, source: '127.0.0.1' }
  await keepQuarantined(world.books.db, [{ ...row, reason: 'signature_wrong' }], {
    rowsMax: 100,
    bytesMax: 1_000_000,
  })
}

async function quarantined(): Promise<bigint | undefined> {
  const { rows } = await sql<{ count: bigint }>`select count(*) from quarantine`.execute(world.books.db)
  return rows[0]?.count
}

/** What people did, as the audit log says it. */
const acts = async (action: string) => {
  const { rows } = await sql<{ person: string; detail: string }>`
    select person, detail from accounting.audit_log where action = ${action} and person is not null`.execute(
    world.books.db,
  )
  return rows
}

describe('the evidence bundle of a deposit', () => {
  test('is refused to a visitor, and nothing is recorded', async () => {
    const { status, text } = await got('/deposits/1/evidence')
    expect([status, text]).toEqual([401, 'you are signed out: sign in, and try again\n'])
    expect((await got('/deposits/1')).text).not.toContain('/deposits/1/evidence')
    expect(await acts('bundle_made')).toEqual([])
  })

  test('is the file of the command line, verifies, and stands in the audit log with the person', async () => {
    const vera = await signedIn('vera', 'viewer')
    expect((await got('/deposits/1', vera)).text).toContain('href="/deposits/1/evidence"')
    const { status, headers, text } = await got('/deposits/1/evidence', vera)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename=deposit-1.json')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const { checks, bundle } = verifyBundle(text)
    expect(checks.filter(({ outcome }) => outcome !== 'passed')).toEqual([])
    expect(bundle?.parts.subject).toMatchObject({ deposit: '1' })
    expect(await verifyDocument(world, text)).toMatchObject({ status: 0, verified: true })
    expect(await acts('bundle_made')).toEqual([{ person: 'vera', detail: 'deposit 1' }])
  })

  test('is linked from a mismatch of the deposit', async () => {
    const { rows } = await sql<{ id: bigint; deposit: bigint }>`
      select id, deposit_id as deposit from mismatch where deposit_id is not null limit 1`.execute(
      world.books.db,
    )
    const { text } = await got(`/mismatches/${rows[0]?.id}`, await signedIn('vera', 'viewer'))
    expect(text).toContain(`href="/deposits/${rows[0]?.deposit}/evidence"`)
  })

  test('of an unknown deposit is not found', async () => {
    expect((await got('/deposits/99/evidence', await signedIn('vera', 'viewer'))).status).toBe(404)
  })

  test('is not made if it would not verify', async () => {
    const wes = await signedIn('wes', 'auditor')
    await sql`set session_replication_role = replica; update inbox set body = 'x' where source = 'webhook'`.execute(
      world.books.owner,
    )
    const { status, text } = await got('/deposits/1/evidence', wes)
    expect(status).toBe(409)
    expect(text).toMatch(
      /^the bundle would not verify \(readings: .*run "bin\/depositd deposits evidence 1 --out FILE"/,
    )
    expect(await acts('bundle_made')).not.toContainEqual({ person: 'wes', detail: 'deposit 1' })
  })
})
