import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const needed = ['src', 'db', 'docs', 'profiles', 'package.json']

/** A migration of a version that is not written yet: it only adds. */
export const nextMigration = {
  name: '9997_next',
  text: `alter table deposit add column note text not null default '';
    create table note (deposit_id bigint primary key references deposit, note text not null);
    create index deposit_note on deposit (note)`,
}

/**
 * A newer version of the program, in that folder: this one with one more migration.
 * @returns its command line
 */
export async function newerProgram(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  for (const name of needed) await cp(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'db/migrations', `${nextMigration.name}.sql`), nextMigration.text)
  return join(folder, 'src/main.ts')
}
