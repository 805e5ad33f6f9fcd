import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startPostgres } from '../../src/sandbox/postgres.ts'
import { openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { dumpSchema } from './dump-schema.ts'

/** `npm run schema` writes what the migrations add up to; `npm run check` compares it (`--check`). */

const databases = [
  { name: 'depositd', migrations: 'db/migrations', schemas: ['public', 'accounting'], file: 'db/schema.sql' },
  {
    name: 'service',
    migrations: 'db/service/migrations',
    schemas: ['service'],
    file: 'db/service/schema.sql',
  },
]

const isCheck = process.argv.includes('--check')
const folder = await mkdtemp(join(tmpdir(), 'depositd-schema-'))
const server = await startPostgres({ folder, durability: 'none', log: pino({ level: 'silent' }) })
try {
  for (const { name, migrations, schemas, file } of databases) {
    await server.createDatabase(name)
    const db = openDatabase({ url: server.url(name), poolMax: 1, applicationName: 'schema' })
    await migrate(db, migrations)
    await db.destroy()
    const dump = await dumpSchema(server.url(name), schemas)
    if (!isCheck) writeFileSync(file, dump)
    else if (readFileSync(file, 'utf8') !== dump) {
      process.stderr.write(
        `${file} is not what the migrations add up to; run "npm run schema" and read the difference\n`,
      )
      process.exitCode = 1
    }
  }
} finally {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
