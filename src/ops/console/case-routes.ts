import { mayBeLost } from '../../core/mismatch.ts'
import type { MismatchRow } from '../../presentation/mismatch.ts'
import type { CaseAction, SnoozeEnd } from '../../store/mismatches/cases.ts'
import { snoozeEnds, snoozesMs } from './case-forms.ts'
import { draftsOf, requestOf } from './decision-routes.ts'
import { refused } from './forms.ts'
import { mismatchFilter } from './mismatches.ts'
import { type ConsolePeople, type ConsoleUser, namesOf, personWho, signedIn } from './people.ts'
import { missing, numberOf, readQuery } from './query.ts'
import { type ConsoleAnswer, type ConsoleRequest, readNumbered } from './request.ts'

export async function workOnCase(request: ConsoleRequest): Promise<ConsoleAnswer> {
  const { reader, user, id } = request
  const person = personWho(user, 'work on cases')
  const { mismatch } = await readNumbered('mismatch', id, reader.mismatch)
  const { severity, loss_base: loss } = mismatch
  return workOn(request, person, {
    cases: [{ id, severity, loss_base: loss }],
    back: `/mismatches/${id}`,
  })
}

const casesMax = 500

/** All mismatches of a filter at once. */
export async function workOnCases(request: ConsoleRequest): Promise<ConsoleAnswer> {
  const { reader, people, user, field } = request
  const person = personWho(user, 'work on cases')
  const filter = new URLSearchParams(field('filter'))
  filter.delete('after')
  const cases = await reader.mismatches({ ...mismatchFilter(filter, reader), limit: casesMax })
  if (cases.length === 0) throw missing('mismatch', 'of this filter')
  if (field('action') !== 'write_off')
    return workOn(request, person, { cases, back: `/mismatches?${filter.toString()}` })
  return draftsOf(
    people,
    person,
    cases.map(({ id }) => requestOf('write_off', [id], field)),
  )
}

type WorkedCase = Pick<MismatchRow, 'id' | 'severity'> & { loss_base: unknown }

/** What may be a loss is resolved by a decision, of all of them. */
async function workOn(
  { people, field }: ConsoleRequest,
  person: ConsoleUser,
  { cases, back }: { cases: readonly WorkedCase[]; back: string },
): Promise<ConsoleAnswer> {
  const ids = cases.map(({ id }) => id)
  const isLoss = cases.some(({ severity, loss_base: loss }) => mayBeLost({ severity, loss }))
  if (field('action') === 'resolved' && isLoss)
    return draftsOf(people, person, [requestOf('resolved', ids, field)])
  const act =
    field('action') === 'assign'
      ? { action: 'assigned' as const, to: await assigneeOf(people, field('to')) }
      : actionOf(field)
  const event = await people.workOnCases(person, ids.map(BigInt), act)
  return { redirect: withDone(back, event) }
}

/** Of one mismatch or of a list. */
export async function undoWork({ people, reader, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const person = personWho(user, 'work on cases')
  const { mismatches, undo } = await people.undoWork(person, numberOf('event', field('event')))
  const [first = 0n, ...others] = mismatches
  if (others.length === 0) return { redirect: withDone(`/mismatches/${first}`, undo) }
  const filter = new URLSearchParams(field('filter'))
  mismatchFilter(filter, reader)
  return { redirect: withDone(`/mismatches?${filter.toString()}`, undo) }
}

export async function attachToCase({ people, user, id, file }: ConsoleRequest): Promise<ConsoleAnswer> {
  const person = personWho(user, 'work on cases')
  if (file === null) throw refused('choose a file', 400)
  await people.attach(person, numberOf('id', id), file)
  return { redirect: `/mismatches/${id}` }
}

export async function downloadAttachment({
  people,
  user,
  search,
  id,
}: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const person = signedIn(user)
  const { name, content } = await readNumbered('attachment', id, (number) =>
    people.takeAttachment(person, number),
  )
  return { download: name, bytes: content }
}

/** The page then says what was done, and offers to undo it. */
function withDone(path: string, event: bigint): string {
  return `${path}${path.includes('?') ? '&' : '?'}done=${event}`
}

/** Null for an empty name. */
async function assigneeOf(people: ConsolePeople, name: string): Promise<string | null> {
  if (name === '' || namesOf(await people.everyone()).includes(name)) return name || null
  throw refused(`${name} is not in the register of people`, 400)
}

/** @throws Fault `request_refused` if the form is not one of a case */
function actionOf(field: ConsoleRequest['field']): CaseAction {
  const [action, text] = [field('action'), field('text')]
  if (action === 'wake') return { action: 'snoozed', until: null }
  const until = snoozeOf(field('until'))
  if (action === 'snooze' && until !== undefined) return { action: 'snoozed', until }
  const written = (['commented', 'resolved', 'reopened'] as const).find((one) => one === action)
  if (written === undefined) throw refused(`there is no action "${action}"`, 400)
  if (text === '') throw refused('write a text', 400)
  return { action: written, text }
}

function snoozeOf(chosen: string): Date | SnoozeEnd | undefined {
  const spanMs = snoozesMs[chosen]
  return spanMs === undefined ? snoozeEnds[chosen] : new Date(Date.now() + spanMs)
}
