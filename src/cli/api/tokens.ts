import { tokenScopes } from '../../people/roles.ts'
import {
  type ApiToken,
  createApiToken,
  listApiTokens,
  revokeApiToken,
  tokenNameForm,
} from '../../store/api-tokens.ts'
import { inTransaction } from '../../store/database.ts'
import { type Context, withDatabase } from '../context.ts'
import { checkFilters } from '../filters.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { badValue, choiceOf, notFound } from '../options.ts'
import { ownPerson } from '../people/signing.ts'
import { print, type TableColumn } from '../print.ts'

type CreateTokenOptions = { scopes: string; services?: string; owners?: string }

/** The token alone goes to standard output, for use in a shell. */
export async function createTokenCommand(
  context: Context,
  name: string,
  options: CreateTokenOptions,
): Promise<void> {
  if (!tokenNameForm.test(name))
    throw badValue('the name', name, 'use lower-case letters, digits, ".", "_" and "-", at most 63 of them')
  const scopes = listIn(options.scopes).map((word) => choiceOf('--scopes', word, tokenScopes))
  const services = options.services === undefined ? null : listIn(options.services)
  const owners = options.owners === undefined ? null : listIn(options.owners)
  const { token, created } = await withDatabase(context, async (db) => {
    const by = await ownPerson(context, db, 'administrator')
    const named = [
      ...(services ?? []).map((service) => ({ service })),
      ...(owners ?? []).map((owner) => ({ owner })),
    ]
    await Promise.all(named.map((one) => checkFilters(context, db, one)))
    return inTransaction(db, (tx) => createApiToken(tx, { name, scopes, services, owners, by }))
  })
  context.stderr.write(`token ${created.name} is active; it is shown only once\n`)
  print(context, { ...created, token }, `${token}\n`)
}

function listIn(text: string): string[] {
  return [...new Set(text.split(',').map((word) => word.trim()))]
}

const paging: ListKeyset<ApiToken> = { list: 'API tokens', keyOf: ({ id }) => [`${id}`] }

export async function listTokensCommand(context: Context, options: ListOptions): Promise<void> {
  const page = await withDatabase(context, (db) =>
    readPage(options, paging, ({ limit, after }) => listApiTokens(db, { limit, after: idIn(after) })),
  )
  printList(context, page, { columns, empty: 'no tokens yet' })
}

export async function revokeTokenCommand(context: Context, name: string): Promise<void> {
  const revoked = await withDatabase(context, async (db) => {
    const by = await ownPerson(context, db, 'administrator')
    return inTransaction(db, (tx) => revokeApiToken(tx, { name, by }))
  })
  if (revoked === null)
    throw notFound(`an active token ${JSON.stringify(name)}`, 'use a name from "bin/depositd api token list"')
  print(context, revoked, `token ${revoked.name} is revoked\n`)
}

const all = (words: readonly string[] | null) => words?.join(', ') ?? 'all'

const columns: TableColumn<ApiToken>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'SCOPES', value: ({ scopes }) => scopes.join(', ') },
  { title: 'SERVICES', value: ({ services }) => all(services) },
  { title: 'OWNERS', value: ({ owners }) => all(owners) },
  { title: 'CREATED', value: ({ created_at: at }) => at.toISOString() },
  { title: 'BY', value: ({ created_by: by }) => by },
  { title: 'LAST USED', value: ({ last_used_at: at }) => at?.toISOString() ?? '' },
  { title: 'REVOKED', value: ({ revoked_at: at }) => at?.toISOString() ?? '' },
]
