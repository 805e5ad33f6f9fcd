import { migrationMaxMs } from '../app.ts'
import { migrationsFolder } from '../migrations-folder.ts'
import { makePartitions } from '../store/ledger/ground.ts'
import { migrate } from '../store/migrate.ts'
import { type Context, withDatabase } from './context.ts'

export async function runMigrations(context: Context): Promise<void> {
  const applied = await withDatabase(
    context,
    async (db) => {
      const names = await migrate(db, migrationsFolder)
      await makePartitions(db)
      return names
    },
    migrationMaxMs,
  )
  for (const name of applied) context.stdout.write(`applied ${name}\n`)
  context.stdout.write(
    applied.length === 0 ? 'nothing to do: the schema is up to date\n' : 'the schema is up to date\n',
  )
}
