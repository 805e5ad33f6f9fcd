import { compileTime } from './profile/compile-value.ts'
import { compileField, type RecordContext, Unreadable } from './profile/find-field.ts'
import type { ListProfile } from './profile/list-schema.ts'
import type { Profile } from './profile/profile-schema.ts'

/** The fields read before a record is mapped. Null if the record lacks one; it is stored all the same. */
export type RecordHead = { id: string | null; time: Date | null }

/** A record as listed, with its JSON text: numbers digit for digit as sent. */
export type PolledRecord = RecordHead & { text: string }

export type DepositsProfile = { list: ListProfile; record: Pick<Profile['record'], 'id' | 'createdAt'> }

/** Compiles a reader of a record's id and of the time by which the list is ordered. */
export function compileRecordHead({ list, record }: DepositsProfile): (value: unknown) => PolledRecord {
  const findId = compileField(record.id, '')
  const readTime = compileTime(list.time ?? record.createdAt, '')
  return (value) => {
    const place = { record: value, payload: value }
    const id = readable(place, (one) => findId(one)?.text ?? null)
    return { id, time: readable(place, readTime), text: JSON.stringify(value) }
  }
}

/** The claim reader reports problems once the record is applied. */
function readable<Value>(place: RecordContext, read: (place: RecordContext) => Value | null): Value | null {
  try {
    return read(place)
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}
