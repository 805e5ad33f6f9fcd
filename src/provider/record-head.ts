import { compileTime } from './profile/compile-value.ts'
import { compileField, type RecordContext, Unreadable } from './profile/find-field.ts'
import type { ListProfile } from './profile/list-schema.ts'
import type { Profile } from './profile/profile-schema.ts'

/** What is known of a record without its mapping. Null where the record does not say it; it is kept all the same. */
export type RecordHead = { id: string | null; time: Date | null }

/** A record as it was listed, with its own JSON text: numbers digit for digit as they were sent. */
export type PolledRecord = RecordHead & { text: string }

export type DepositsProfile = { list: ListProfile; record: Pick<Profile['record'], 'id' | 'createdAt'> }

/** Makes what reads a record's id, and the time that the list is in order of. */
export function compileRecordHead({ list, record }: DepositsProfile): (value: unknown) => PolledRecord {
  const findId = compileField(record.id, '')
  const readTime = compileTime(list.time ?? record.createdAt, '')
  return (value) => {
    const place = { record: value, payload: value }
    const id = readable(place, (one) => findId(one)?.text ?? null)
    return { id, time: readable(place, readTime), text: JSON.stringify(value) }
  }
}

/** What cannot be read here is named by the mapping, once the record is applied. */
function readable<Value>(place: RecordContext, read: (place: RecordContext) => Value | null): Value | null {
  try {
    return read(place)
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}
