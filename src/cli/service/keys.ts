import { type ApiKey, createApiKey, listApiKeys, revokeApiKey } from '../../service/api-keys.ts'
import type { ApiScope } from '../../service/tables.ts'
import type { Context } from '../context.ts'
import { type ListKeyset, type ListOptions, pageOf, printList } from '../lists.ts'
import { notFound, wrongUse } from '../options.ts'
import { print, type TableColumn } from '../print.ts'
import { withServiceDatabase } from './running-service.ts'

type CreateOptions = { name: string; scope: ApiScope }

/** The key alone goes to standard output, for use in a shell. */
export async function createKeyCommand(context: Context, options: CreateOptions): Promise<void> {
  const wanted = { name: nameOf(options.name), scope: options.scope }
  const { key, ...created } = await withServiceDatabase(context, (db) => createApiKey(db, wanted))
  context.stderr.write(`key ${created.id} (${created.scope}) is active; it is shown only once\n`)
  print(context, { ...created, key }, `${key}\n`)
}

const paging: ListKeyset<ApiKey> = { list: 'keys', keyOf: ({ id }) => [id] }

export async function listKeysCommand(context: Context, options: ListOptions): Promise<void> {
  const page = pageOf(await withServiceDatabase(context, listApiKeys), options, paging)
  printList(context, page, { columns, empty: 'no keys yet' })
}

export async function revokeKeyCommand(context: Context, id: string): Promise<void> {
  const revoked = await withServiceDatabase(context, (db) => revokeApiKey(db, id))
  if (revoked === null)
    throw notFound(`key ${JSON.stringify(id)}`, 'use an id from "bin/depositd service keys list"')
  print(context, revoked, `key ${revoked.id} (${revoked.name}) is revoked\n`)
}

const columns: TableColumn<ApiKey>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'SCOPE', value: ({ scope }) => scope },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'CREATED', value: ({ created_at: at }) => at.toISOString() },
  { title: 'REVOKED', value: ({ revoked_at: at }) => at?.toISOString() ?? '' },
]

function nameOf(text: string): string {
  if (/^[^\p{C}]{1,200}$/u.test(text) && text.trim() !== '') return text
  throw wrongUse('--name is empty, too long or not printable', 'give 1 to 200 printable characters')
}
