import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import type { Page } from 'playwright-core'
import type { Observation } from '../../src/core/evidence.ts'
import { requestDecision } from '../../src/jobs/people/decide.ts'
import { startPostgres } from '../../src/sandbox/postgres.ts'
import { openDatabase } from '../../src/store/database.ts'
import { migrate, migrationsFolder } from '../../src/store/migrate.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Books, openBooksIn } from './books.ts'
import { serveBooks } from './books-console.ts'
import { openBrowser } from './browser.ts'
import { at, usdcOnBase, usdtOnBase } from './evidence.ts'
import { claimsOf, credited, forwarded, paymentOf } from './example-books.ts'
import { pinWorld } from './made-up-world.ts'
import { addPeople, decideTogether, decisionDeps, journalRequest, signers } from './people.ts'
import type { TestDatabase } from './postgres.ts'
import { seal } from './sealed-books.ts'

/** `npm run screenshots`: pictures of the main pages in docs/images, of the books of a made-up day that ends now. */

const images = join(import.meta.dirname, '../../docs/images')
const minutesNow = Math.floor((Date.now() - at(0).getTime()) / 60_000)
const hour = 60
const day = 24 * hour

await using stack = new AsyncDisposableStack()
const books = stack.use(openBooksIn(await startDatabase(), { now: () => new Date() }))
await fill(books)
const url = await serveBooks(books, stack)
const browser = await openBrowser()
stack.defer(() => browser.close())
const page = await browser.newPage({ viewport: { width: 1280, height: 780 }, timezoneId: 'UTC' })
for (const [name, path] of Object.entries(await pathsOf(books))) {
  await page.goto(url + path)
  await keep(page, name)
}
await page.goto(url)
await page
  .locator('section', { has: page.locator('.charts') })
  .screenshot({ path: join(images, 'charts.png') })

/** As much as fits a screen. */
async function keep(shown: Page, name: string): Promise<void> {
  const { width, height } = shown.viewportSize() ?? { width: 0, height: 0 }
  const used = Number(await shown.evaluate('document.body.offsetHeight'))
  await shown.screenshot({
    path: join(images, `${name}.png`),
    clip: { x: 0, y: 0, width, height: Math.min(height, used) },
  })
}

/** A migrated database that knows the made-up world, on a server of its own. */
async function startDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-screenshots-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const server = await startPostgres({ folder, durability: 'none', log: pino({ level: 'silent' }) })
  stack.defer(() => server.stop())
  await server.createDatabase('books')
  const db = openDatabase<Tables>({ url: server.url('books'), poolMax: 2, applicationName: 'migrate' })
  await migrate(db, migrationsFolder)
  await pinWorld(db)
  await db.destroy()
  return { url: server.url('books'), drop: () => Promise.resolve() }
}

/** Deposits all day long, most of which go well, with the mistakes that services make. */
async function fill(filled: Books): Promise<void> {
  await addPeople(filled.owner)
  for (const observations of dayOfDeposits()) {
    await filled.receive(...observations)
    await filled.settle()
  }
  // Mismatches open when the evidence is applied, which here is now for all.
  await sql`
    update mismatch m set opened_at = d.deposited_at + interval '1 hour'
    from deposit d where d.id = m.deposit_id and d.deposited_at < now() - interval '1 hour'`.execute(
    filled.owner,
  )
  await sql`update mismatch set cleared_at = opened_at + interval '2 hours' where cleared_at is not null`.execute(
    filled.owner,
  )
  const deps = decisionDeps(filled.owner, ['assets:bank:main'])
  await decideTogether(deps, journalRequest({ reason: 'Paid by bank transfer', reference: 'B-17' }))
  await requestDecision(deps, journalRequest({ reference: 'B-21' }), signers.erin)
  await seal(filled)
}

function ago(hours: number): number {
  return minutesNow - hours * hour
}

function dayOfDeposits(): Observation[][] {
  const good = Array.from({ length: 60 }, (_, place) => {
    const paid = BigInt(20 + ((place * 37) % 400)) * 1_000_000n
    const fee = paid / 1000n
    const whole = {
      number: 100 + place,
      minutes: minutesNow - day + place * 22 + ((place * 13) % 17),
      paid,
      fee,
      delivered: paid - fee,
      asset: place % 3 === 0 ? usdtOnBase : usdcOnBase,
      deliveredAfterMinutes: 3 + ((place * 7) % 11),
    }
    return place % 5 === 0 && place % 3 !== 0
      ? credited({ ...whole, stated: paid - fee, asset: usdcOnBase })
      : forwarded(whole)
  })
  const short = { number: 3, minutes: ago(9), paid: 200_000_000n, stated: 199_800_000n, fee: 200_000n }
  const stuck = { number: 5, minutes: ago(15), paid: 75_000_000n }
  const older = { number: 6, minutes: ago(80), paid: 320_000_000n }
  const newest = { number: 7, minutes: ago(0.6), paid: 150_000_000n }
  const unreported = { number: 8, minutes: ago(4), paid: 40_000_000n }
  const orphaned = { number: 9, minutes: ago(6), paid: 60_000_000n }
  return [
    ...good,
    forwarded({ ...short, delivered: 179_820_000n }),
    [paymentOf(stuck), ...claimsOf(stuck, 'confirmed')],
    [paymentOf(older), ...claimsOf(older, 'confirmed')],
    [paymentOf(newest), ...claimsOf(newest, 'confirmed')],
    [paymentOf(unreported)],
    [paymentOf(orphaned), ...claimsOf(orphaned, 'confirmed')],
    [{ ...paymentOf(orphaned), stage: 'orphaned', epoch: 1 }],
  ]
}

async function pathsOf({ db }: Books): Promise<Record<string, string>> {
  const { rows } = await sql<{ mismatch: bigint; deposit: bigint }>`
    select id as mismatch, deposit_id as deposit from mismatch
    where kind = 'settlement_short' and cleared_at is null`.execute(db)
  const [shown] = rows
  return {
    overview: '/',
    mismatches: '/mismatches',
    mismatch: `/mismatches/${shown?.mismatch}`,
    deposit: `/deposits/${shown?.deposit}`,
    decisions: '/decisions',
    ledger: '/ledger',
  }
}
