import { createDepositClient } from '../../provider/deposit-client.ts'
import type { Section } from '../../provider/infer/find-records.ts'
import { parseLossless } from '../../provider/lossless-json.ts'
import type { PageMark } from '../../provider/paging.ts'
import { listSchema } from '../../provider/profile/profile-schema.ts'
import { createServiceCall } from '../../provider/service-call.ts'
import type { Session } from './session.ts'

/** The first records of a list whose paging is known, at most `max`. */
export async function readList(session: Session, section: Section, max: number): Promise<unknown[]> {
  const { service } = session.service()
  const list = listSchema.parse(section)
  // The id only tells whether records shifted; it is not known yet.
  const record = { id: { paths: ['id'], presence: 'optional' as const, absent: [] } }
  const client = createDepositClient({ ...service, call: createServiceCall(service) }, { list, record })
  const records: unknown[] = []
  let mark: PageMark = null
  while (records.length < max) {
    const page = await client.listDeposits({ mark, since: null })
    if (page === null) break
    records.push(...page.records.map(({ text }) => parseLossless(text)))
    if (page.next === null || page.next.isDrift) break
    mark = page.next.mark
  }
  return records.slice(0, max)
}
