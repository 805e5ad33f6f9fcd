import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import { migrate, migrationsFolder } from '../../src/store/migrate.ts'

import { temporaryFolder } from '../support/folder.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { takesAway } from '../support/takes-away.ts'

/** Files up to this one make the schema of the first release, which no older version runs on. */
const lastOfFirst = '0016_roles.sql'
const files = readdirSync(migrationsFolder).toSorted()

/** By the beginning of a reported line, why it does no harm; two versions ran next to each other on it. */
const lookedAt: Readonly<Record<string, Readonly<Record<string, string>>>> = {}

test('a migration after the first release only adds, or says since which version its objects are unused', async () => {
  expect(files).toContain(lastOfFirst)
  for (const file of files.filter((name) => name > lastOfFirst)) await hold(file)
})

async function hold(file: string): Promise<void> {
  const text = readFileSync(join(migrationsFolder, file), 'utf8')
  if (file.endsWith('_contract.sql')) {
    expect(text, file).toMatch(/^-- contract: not used since \d+\.\d+\.\d+: \S/)
    return
  }
  const known = Object.keys(lookedAt[file] ?? {})
  const reported = await takesAway(await databaseBefore(file), text)
  expect(
    reported.filter((line) => !known.some((beginning) => line.startsWith(beginning))),
    file,
  ).toEqual([])
  expect(
    known.filter((beginning) => !reported.some((line) => line.startsWith(beginning))),
    file,
  ).toEqual([])
}

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
