import type { Kysely } from 'kysely'
import { type CheckedBundle, createBundleMaker } from '../../app/evidence-bundle.ts'
import { readFrom } from '../../config/environment.ts'
import { readPeople } from '../../config/environment-settings.ts'
import { webhookSecretsSetting } from '../../config/settings.ts'
import { parseSecrets } from '../../config/webhook-settings.ts'
import { toTxId } from '../../core/asset.ts'
import type { ServiceName } from '../../core/evidence.ts'
import { type BundleCheck, verifyBundle, verifySignatures } from '../../evidence/verify-bundle.ts'
import { type Nodes, verifyChains } from '../../evidence/verify-chain.ts'
import { verifyDecisions } from '../../evidence/verify-decisions.ts'
import type { Keys } from '../../intake/signature/scheme.ts'
import { readPersonKey } from '../../people/person-key.ts'
import { findDeposits } from '../../store/books/show-deposits.ts'
import type { Tables } from '../../store/tables.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { readTextFile, writeOut } from '../files.ts'
import { badValue, choiceOf, noDeposit, onlyOne, wrongUse } from '../options.ts'
import { recordAct } from '../people/signing.ts'
import { type News, print, table } from '../print.ts'
import { version } from '../process.ts'

/** Bad news if the bundle would not verify. */
export async function makeEvidenceCommand(
  context: Context,
  id: string,
  { out }: { out: string },
): Promise<News> {
  const writeBundle = createBundleWriter(context)
  const { sha256, checks, failed } = await withDatabase(context, async (db) => {
    const found = onlyOne(id, await findDeposits(db, toTxId(id)))
    await recordAct(context, db, { action: 'bundle_made', detail: `deposit ${found.id}` })
    return writeBundle(db, { id: found.id, groupId: found.group_id }, out)
  })
  const text = `${out}: SHA-256 of the file ${sha256}\n${failed.length === 0 ? '' : checksText(failed)}`
  print(context, { file: out, sha256, checks }, text)
  return failed.length === 0 ? 'good' : 'bad'
}

/** Writes the bundle of a deposit. */
export function createBundleWriter(
  context: Context,
): (db: Kysely<Tables>, deposit: { id: bigint; groupId: bigint }, path: string) => Promise<CheckedBundle> {
  const make = createBundleMaker(attachedSettings(context), version)
  return async (db, deposit, path) => {
    const made = await make(db, deposit)
    if (made === null) throw noDeposit(`${deposit.id}`)
    writeOut(path, made.text)
    return made
  }
}

type VerifyEvidenceOptions = { rpc?: string[]; publicKeys?: string; administrator?: string }

/** Needs no database. */
export async function verifyEvidenceCommand(
  context: Context,
  path: string,
  options: VerifyEvidenceOptions,
): Promise<News> {
  const nodes = nodesOf(options.rpc ?? [])
  const { checks, bundle, stored } = verifyBundle(readTextFile(path, path))
  const networks = bundle?.parts.networks.map(({ name }) => name) ?? []
  if (bundle !== null) for (const name of nodes.keys()) choiceOf('--rpc', name, networks)
  const others =
    bundle === null
      ? []
      : [
          verifyDecisions(bundle.parts, administratorOf(context, options)),
          ...verifySignatures(bundle.parts, keysOf(context, options)),
          ...(await verifyChains(bundle.parts, stored, nodes)),
        ]
  const all = [...checks, ...others]
  const verified = all.every(({ outcome }) => outcome !== 'failed')
  const text = `${checksText(all)}${verified ? 'verified' : 'NOT VERIFIED'}\n`
  print(context, { file: path, verified, checks: all }, text)
  return verified ? 'good' : 'bad'
}

function administratorOf({ environment }: Context, { administrator }: VerifyEvidenceOptions): string | null {
  if (administrator === undefined) return readFrom(environment, readPeople).administratorKey
  if (readPersonKey(administrator) !== null) return administrator
  throw badValue(
    '--administrator',
    administrator,
    'use the public key as "bin/depositd people list" prints it',
  )
}

function checksText(checks: readonly BundleCheck[]): string {
  return table(checks, [
    { title: 'CHECK', value: ({ check }) => check },
    { title: 'OUTCOME', value: ({ outcome }) => outcome },
    { title: 'RESULT', value: ({ says }) => says },
  ])
}

function keysOf({ environment }: Context, { publicKeys: file }: VerifyEvidenceOptions) {
  const publicKeys = file === undefined ? null : readTextFile('--public-keys', file)
  return (service: ServiceName): Keys => {
    const secretsSetting = webhookSecretsSetting(service)
    const secrets = readFrom(environment, (reader) =>
      parseSecrets(reader.optional(secretsSetting) ?? '', reader.faults, secretsSetting),
    )
    return { secrets, publicKeys, secretsSetting }
  }
}

/** Several nodes of one network have to agree. */
function nodesOf(words: readonly string[]): Nodes {
  const pairs = words.map((word): [string, string] => {
    const [, name, url] = /^([a-z0-9-]+)=(https?:\/\/.+)$/.exec(word) ?? []
    if (name !== undefined && url !== undefined) return [name, url]
    const problem = '--rpc is not a network with the URL of a node'
    throw wrongUse(problem, 'use the form --rpc base=https://base.example')
  })
  const byName = Map.groupBy(pairs, ([name]) => name)
  return new Map([...byName].map(([name, some]) => [name, some.map(([, url]) => url)]))
}
