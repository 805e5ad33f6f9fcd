import { type Kysely, sql, type Transaction } from 'kysely'
import { attachmentBytesMax, attachmentName, attachmentsMax } from '../../core/attachment.ts'
import { Fault } from '../../core/errors.ts'
import type { Tables } from '../tables.ts'
import { appendEvents, lockCases } from './cases.ts'

export type AttachmentLine = {
  id: string
  name: string
  bytes: number
  sha256: string
  added_by: string
  at: Date
}

export type UploadedFile = { name: string; content: Buffer }

/**
 * The history of the mismatch then names the file and its SHA-256.
 * @throws Fault `usage_bad` if the file is empty or too large, or if the mismatch has too many; `not_found` as `lockCases`
 */
export async function attachFile(
  tx: Transaction<Tables>,
  mismatchId: bigint,
  { name, content, person }: UploadedFile & { person: string },
): Promise<void> {
  if (content.length === 0 || content.length > attachmentBytesMax)
    throw refused(`${name} has ${content.length} bytes`, 'attach a file of 1 byte to 5 MB')
  await lockCases(tx, [mismatchId])
  const others = await listAttachments(tx, mismatchId)
  if (others.length >= attachmentsMax)
    throw refused(
      `mismatch ${mismatchId} has ${others.length} attachments`,
      'put several files into one archive',
    )
  const { rows } = await sql<{ id: string; name: string; sha256: string }>`
    insert into mismatch_attachment (mismatch_id, name, content, sha256, added_by)
    select ${mismatchId}, ${attachmentName(name)}, content, encode(sha256(content), 'hex'), ${person}
    from (select ${content}::bytea as content) as file
    returning id::text as id, name, sha256`.execute(tx)
  await appendEvents(
    tx,
    rows.map(({ id, sha256, name: text }) => ({
      mismatchId,
      actor: person,
      action: 'attached',
      text,
      approvedBy: null,
      decision: null,
      before: null,
      after: { attachment: id, bytes: content.length, sha256 },
    })),
  )
}

export async function listAttachments(db: Kysely<Tables>, mismatchId: bigint): Promise<AttachmentLine[]> {
  const { rows } = await sql<AttachmentLine>`
    select id::text as id, name, octet_length(content) as bytes, sha256, added_by, at from mismatch_attachment
    where mismatch_id = ${mismatchId} order by id`.execute(db)
  return rows
}

export async function readAttachment(
  db: Kysely<Tables>,
  id: bigint,
): Promise<(UploadedFile & { mismatch: bigint }) | null> {
  const { rows } = await sql<UploadedFile & { mismatch: bigint }>`
    select name, content, mismatch_id as mismatch from mismatch_attachment where id = ${id}`.execute(db)
  return rows[0] ?? null
}

function refused(problem: string, fix: string): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix: `${fix}; nothing was changed` })
}
