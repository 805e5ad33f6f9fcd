import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { canonicalText, documentText, sha256Of } from '../../src/evidence/bundle.ts'
import { at, claim, delivery, payment, txId, webhook } from './evidence.ts'
import type { EvidenceWorld } from './evidence-world.ts'

export type Document = {
  parts: Record<string, unknown>
  sha256: { parts: Record<string, string>; whole: string }
}
export type Printed = {
  verified: boolean
  checks: { check: string; outcome: string; says: string }[]
}

/**
 * Makes two deposits that one transaction paid, and the bundle of both: one is reconciled, after a booking that was
 * taken back; of one the forward fell short.
 * @returns the path of the bundle, and what it printed
 */
export async function makeBundleOfTwo(world: EvidenceWorld) {
  await world.see(payment())
  await world.books.settle()
  await world.post(webhook(), { copiesAt: [at(6), at(7)] })
  await world.list(claim())
  await world.see(delivery())
  await world.books.settle()
  const short = { tx: txId('forward2'), amount: 99_000_000n as Amount }
  const second = { serviceId: 'dep_2' as ServiceId, deposit: { index: '1' }, settlement: { tx: short.tx } }
  await world.list(claim(second))
  await world.see(payment({ index: '1' }), delivery(short))
  await world.books.settle()
  const path = join(world.folder, 'bundle.json')
  const made = await world.run(`deposits evidence dep_1 --out ${path}`)
  return { path, made, text: made.status === 0 ? readFileSync(path, 'utf8') : '' }
}

/** Verifies a document by the command, with no more of an environment than is given. */
export async function verifyDocument(
  { folder, run }: Pick<EvidenceWorld, 'folder' | 'run'>,
  document: string,
  { environment = {}, more = '' }: { environment?: Record<string, string>; more?: string } = {},
): Promise<Printed & { status: number }> {
  const file = join(folder, 'other.json')
  writeFileSync(file, document)
  const { status, out } = await run(`evidence verify ${file} --json${more}`, environment)
  return { ...(JSON.parse(out) as Printed), status }
}

export function outcomes({ checks }: Printed): Record<string, string> {
  return Object.fromEntries(checks.map(({ check, outcome }) => [check, outcome]))
}

export function failedOf({ checks }: Pick<Printed, 'checks'>): string[] {
  return checks.filter(({ outcome }) => outcome === 'failed').map(({ check }) => check)
}

/** As somebody alters it who knows how bundles are made: every hash is made anew. */
export function forged(text: string, alter: (document: Document) => void): string {
  const document = JSON.parse(text) as Document & { format: string; made: object }
  alter(document)
  for (const [name, part] of Object.entries(document.parts))
    document.sha256.parts[name] = sha256Of(canonicalText(part))
  const { format, made, parts, sha256 } = document
  document.sha256.whole = sha256Of(canonicalText({ format, made, parts, sha256: { parts: sha256.parts } }))
  return documentText(document)
}

export type BundleRow = { source: string; body: string; bodySha256: string; says: Record<string, unknown> }

export function rowOf({ parts }: Document, source: string): BundleRow {
  const row = (parts.evidence as BundleRow[]).find((one) => one.source === source)
  if (row === undefined) throw new Error(`no row of ${source}`)
  return row
}

/** Replaces a text in the body, in what it says and in its hash. */
export function rewrite(row: BundleRow, from: string, to: string): void {
  const body = Buffer.from(Buffer.from(row.body, 'base64').toString().replaceAll(from, to))
  row.body = body.toString('base64')
  row.bodySha256 = sha256Of(body)
  row.says = JSON.parse(JSON.stringify(row.says).replaceAll(from, to)) as BundleRow['says']
}
