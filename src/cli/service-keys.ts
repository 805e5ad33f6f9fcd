import { Fault } from '../core/errors.ts'
import { type ApiKey, createApiKey, listApiKeys, revokeApiKey } from '../service/api-keys.ts'
import type { Context } from './context.ts'
import { limitOf, wordOf } from './options.ts'
import { type Column, printJson, printRows } from './print.ts'
import { withServiceDatabase } from './service-place.ts'

type CreateOptions = { name: string; scope: string; json?: boolean }

const scopes = ['read', 'write'] as const
const nameMax = 200

/** Writes the key alone to standard output, for a shell to keep, and what is to be known of it to standard error. */
export async function createKeyCommand(context: Context, options: CreateOptions): Promise<void> {
  const wanted = { name: nameOf(options.name), scope: wordOf('scope', options.scope, scopes) }
  const { key, ...created } = await withServiceDatabase(context, (db) => createApiKey(db, wanted))
  context.stderr.write(`key ${created.id} (${created.scope}) holds from now on; it is shown this once\n`)
  if (options.json === true) printJson(context, { ...created, key })
  else context.stdout.write(`${key}\n`)
}

export async function listKeysCommand(
  context: Context,
  { limit, json }: { limit: string; json?: boolean },
): Promise<void> {
  const most = limitOf(limit)
  const rows = (await withServiceDatabase(context, listApiKeys)).slice(0, most)
  printRows(context, rows, { columns, json: json === true, empty: 'no keys yet' })
}

export async function revokeKeyCommand(
  context: Context,
  id: string,
  { json }: { json?: boolean },
): Promise<void> {
  const revoked = await withServiceDatabase(context, (db) => revokeApiKey(db, id))
  if (revoked === null) {
    throw new Fault('usage_bad', {
      problem: `there is no key ${JSON.stringify(id)}`,
      mend: 'take an id from "depositd service keys list"',
    })
  }
  if (json === true) printJson(context, revoked)
  else context.stdout.write(`key ${revoked.id} (${revoked.name}) is refused from now on\n`)
}

const columns: Column<ApiKey>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'SCOPE', of: ({ scope }) => scope },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'CREATED', of: ({ created_at: at }) => at.toISOString() },
  { title: 'REVOKED', of: ({ revoked_at: at }) => at?.toISOString() ?? '' },
]

function nameOf(text: string): string {
  if (/^[^\p{C}]{1,200}$/u.test(text) && text.trim() !== '') return text
  throw new Fault('usage_bad', {
    problem: '--name is no name',
    mend: `give 1 to ${nameMax} signs that can be printed`,
  })
}
