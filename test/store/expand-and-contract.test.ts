import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { migrationsFolder } from '../../src/migrations-folder.ts'
import { openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { temporaryFolder } from '../support/folder.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { takesAway } from '../support/takes-away.ts'

/** Before it no version was released that could run beside another. */
const firstHeld = '0032'
const files = readdirSync(migrationsFolder).toSorted()
const held = files.filter((file) => file >= firstHeld)

/** By the beginning of what is told of a migration, why it is no matter; two versions ran beside each other on it. */
const lookedAt: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '0032_logins.sql': {
    'no longer: depositd_daemon may update public.asset.key': 'no statement of the daemon writes it',
    'no longer: depositd_daemon may update public.asset.network': 'no statement of the daemon writes it',
    'asked from now on: trigger on public.asset: CREATE TRIGGER asset_holds_decimals':
      'decimals were pinned by the owner, and not by the daemon',
  },
  '0033_ledger_references.sql': {
    'no longer: unique on public.ledger_journal USING btree (reverses)': 'no `on conflict` names it',
    'asked from now on: unique on public.ledger_journal USING btree (reverses) WHERE (reverses IS NOT NULL)':
      'it was so before',
    'no longer: trigger on public.ledger_transfer': 'made anew, see the next',
    'asked from now on: trigger on public.ledger_transfer':
      'it holds what foreign keys held, by the same errors',
  },
  '0034_evidence_stands.sql': {
    'asked from now on: trigger on public.evidence: CREATE TRIGGER evidence_stands':
      'an older version sets an observation to the same again, which it lets through',
    'asked from now on: trigger on public.sighting: CREATE TRIGGER sighting_stands':
      'an older version fills in only what has no role yet',
  },
  '0036_losses.sql': {
    'asked from now on: CHECK ((loss_amount > (0)::numeric)) on public.mismatch':
      'an older version leaves the columns empty',
    'asked from now on: CHECK ((loss_whole >= loss_amount)) on public.mismatch':
      'an older version leaves the columns empty',
    'asked from now on: CHECK ((num_nulls(loss_asset': 'an older version leaves the columns empty',
  },
}

test('there are migrations to be held', () => {
  expect(held.length).toBeGreaterThan(0)
})

test.each(held)(
  '%s only adds, or says from which version on nobody uses what it takes away',
  async (file) => {
    const text = readFileSync(join(migrationsFolder, file), 'utf8')
    if (file.endsWith('_contract.sql')) {
      expect(text).toMatch(/^-- contract: not used since \d+\.\d+\.\d+: \S/)
      return
    }
    const known = Object.keys(lookedAt[file] ?? {})
    const told = await takesAway(await databaseBefore(file), text)
    expect(told.filter((line) => !known.some((beginning) => line.startsWith(beginning)))).toEqual([])
    expect(known.filter((beginning) => !told.some((line) => line.startsWith(beginning)))).toEqual([])
  },
)

/** With all that is before that migration. */
async function databaseBefore(file: string): Promise<Client> {
  const folder = await temporaryFolder()
  for (const one of files.filter((each) => each < file))
    copyFileSync(join(migrationsFolder, one), join(folder, one))
  const { url, drop } = await emptyDatabase()
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await drop()
  })
  const db = openDatabase({ url, poolMax: 2, applicationName: 'test' })
  await migrate(db, folder)
  await db.destroy()
  return client
}
