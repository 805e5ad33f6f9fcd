import { columnsOf } from './columns.ts'
import { type Doubt, Doubts, present, type Section } from './doubts.ts'
import { draftRecord } from './draft-record.ts'
import { draftWebhook } from './draft-webhook.ts'
import { depositsAmong, findFields, findRecord, recordsAt } from './find-record.ts'
import type { Hints } from './hints.ts'
import { draftList, listingIn } from './infer-list.ts'

/** A profile as it is written, and what in it is unsure. */
export type ProfileDraft = { profile: Section; doubts: readonly Doubt[] }

/** What a profile is made from: parsed without loss of digits, the oldest first. */
export type Samples = {
  /** Bodies of webhooks. */
  payloads: readonly unknown[]
  /** Records, or answers of the service that hold lists of them. */
  answers: readonly unknown[]
}

/** Infers how webhooks and records are read. What could not be found is named by a doubt. */
export function inferProfile({ payloads, answers }: Samples, hints: Hints): ProfileDraft {
  const listings = answers.map((answer) => ({ answer, listing: listingIn(answer) }))
  const listed = listings.flatMap(({ answer, listing }) => listing?.records ?? [answer])
  const path = findRecord(payloads, listed, hints)
  const columns = columnsOf(depositsAmong([...recordsAt(payloads, path), ...listed], hints))
  const found = findFields(columns, hints)
  const doubts = new Doubts()
  const webhook = payloads.length === 0 ? undefined : draftWebhook({ payloads, path, record: found }, doubts)
  const list = listings.find(({ listing }) => listing !== null)
  return {
    profile: present({
      webhook,
      ...draftRecord(found, hints, doubts),
      list: list?.listing ? draftList(list.answer, list.listing, doubts) : undefined,
    }),
    doubts: doubts.all,
  }
}
