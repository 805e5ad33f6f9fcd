import { isFault } from '../../core/errors.ts'
import { draftsOf } from './decision-routes.ts'
import { refused } from './forms.ts'
import { journalFilter, journalOf, journalPage, journalsPage, newJournalPage } from './journals.ts'
import { requesterOf } from './people.ts'
import { readQuery } from './query.ts'
import type { ConsoleReader } from './reader.ts'
import { type ConsoleAnswer, type ConsoleRequest, readNumbered } from './request.ts'

export async function showJournals({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = journalFilter(search)
  return journalsPage(await reader.journals(wish), wish, user)
}

export async function showJournal({ reader, user, search, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  return journalPage(await readNumbered('journal', id, reader.journal), user)
}

export async function showNewJournal({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const person = requesterOf(user, 'journal')
  return newJournalPage(await choicesFor(reader), person, { field: () => '', problem: '' })
}

/** A journal with a problem comes back as it was written. */
export async function draftJournal({ reader, people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const person = requesterOf(user, 'journal')
  try {
    return await draftsOf(people, person, [people.journalOf(journalOf(field))])
  } catch (error) {
    if (!isFault(error, 'usage_bad')) throw error
    const { problem, fix } = error.details
    return newJournalPage(await choicesFor(reader), person, { field, problem: `${problem}: ${fix}` })
  }
}

async function choicesFor(reader: ConsoleReader) {
  const { trial } = await reader.ledger()
  const lines = 'value' in trial ? trial.value.lines : []
  const accounts = new Set([...reader.ownAccounts, ...lines.map(({ account }) => account)])
  const assets = reader.networkSettings.flatMap(({ name, assets: own }) => own.map((one) => `${name}/${one}`))
  return { accounts: [...accounts].toSorted(), assets }
}

export async function draftReversal({ people, user, id, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const reason = field('reason')
  if (reason === '') throw refused('give a reason', 400)
  return draftsOf(people, requesterOf(user, 'reversal'), [
    { kind: 'reversal', change: { journal: id, reason } },
  ])
}
