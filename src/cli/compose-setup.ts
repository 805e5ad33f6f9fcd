import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { readFrom } from '../config/environment.ts'
import type { Context } from './context.ts'

export type SetupOptions = {
  /** One folder for each container that needs secrets, mounted at /run/secrets. */
  folder: string
  alertmanager: string
}

/** The first folder has the original, the others a copy. */
const passwords = {
  postgres_password: ['postgres'],
  runner_password: ['postgres'],
  people_password: ['postgres'],
  accountant_password: ['postgres', 'grafana'],
  grafana_password: ['grafana'],
  ops_token: ['prometheus', 'daemon', 'people'],
} as const satisfies Record<string, readonly [string, ...string[]]>

/** Each container reads as its own user; only the volume keeps other readers out. */
const mode = 0o444

/** Creates the files of docker-compose.yml that need no choice. Prints no secret, and keeps existing passwords. */
export function composeSetup(context: Context, options: SetupOptions): void {
  const created = createPasswords(options)
  context.stdout.write(`passwords: ${created.length === 0 ? 'unchanged' : `created ${created.join(', ')}`}\n`)
  const receivers = writeReceivers(context, options)
  const none = 'no receiver; set keys in receivers.env to change that. Grafana shows all alerts'
  context.stdout.write(`alerts notify: ${receivers.length === 0 ? none : receivers.join(', ')}\n`)
}

function createPasswords({ folder }: SetupOptions): string[] {
  const created: string[] = []
  const values = Object.entries(passwords).map(([name, [original, ...copies]]) => {
    const path = join(folder, original, name)
    if (!existsSync(path)) {
      writeWhole(path, randomBytes(24).toString('hex'))
      created.push(name)
    }
    const value = readFileSync(path, 'utf8')
    for (const copy of copies) writeWhole(join(folder, copy, name), value)
    return [name, value] as const
  })
  const secret = Object.fromEntries(values)
  const database = 'postgres:5432/depositd'
  writeWhole(
    join(folder, 'owner/owner_database_url'),
    `postgres://depositd:${secret.postgres_password}@${database}`,
  )
  writeWhole(
    join(folder, 'daemon/database_url'),
    `postgres://depositd_runner:${secret.runner_password}@${database}`,
  )
  writeWhole(
    join(folder, 'people/database_url'),
    `postgres://depositd_people:${secret.people_password}@${database}`,
  )
  return created
}

const configuration = z.looseObject({ receivers: z.array(z.record(z.string(), z.unknown())) })

/**
 * Leaves out notifications whose secret is missing.
 * @returns the names of the settings that are set
 */
function writeReceivers({ environment }: Context, { folder, alertmanager }: SetupOptions): string[] {
  const text = readFileSync(alertmanager, 'utf8')
  const names = [...new Set([...text.matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name = '']) => name))]
  const secrets = readFrom(environment, (reader) =>
    names.map((name) => ({ name, setting: name.toUpperCase(), value: reader.optional(name.toUpperCase()) })),
  )
  for (const { name, value } of secrets) {
    const path = join(folder, 'alertmanager', name)
    if (value === undefined) rmSync(path, { force: true })
    else writeWhole(path, value)
  }
  const missing = secrets.filter(({ value }) => value === undefined)
  const hasSecret = (entry: unknown): boolean =>
    !missing.some(({ name }) => JSON.stringify(entry).includes(`"/run/secrets/${name}"`))
  const parsed = configuration.parse(parse(text))
  const receivers = parsed.receivers.map((receiver) =>
    Object.fromEntries(
      Object.entries(receiver).map(([key, value]) => [
        key,
        Array.isArray(value) ? value.filter(hasSecret) : value,
      ]),
    ),
  )
  const rendered = stringify({ ...parsed, receivers }, { aliasDuplicateObjects: false })
  writeWhole(join(folder, 'alertmanager/alertmanager.yml'), rendered)
  return secrets.flatMap(({ setting, value }) => (value === undefined ? [] : [setting]))
}

/** A kill leaves the old file or the new one, never a part. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode })
  renameSync(`${path}.new`, path)
}
