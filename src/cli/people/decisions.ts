import { approveDecision, rejectDecision } from '../../jobs/people/decide.ts'
import { waitingDecision } from '../../jobs/people/refuse.ts'
import type { DecisionContent } from '../../people/decision.ts'
import type { DecisionState } from '../../people/register.ts'
import { decisionKindText } from '../../presentation/decision.ts'
import { type DecisionLine, listDecisions, readDecisions } from '../../store/decisions.ts'
import { isAgreed } from '../ask.ts'
import { type Context, withDatabase } from '../context.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { notFound, textOf, wrongUse } from '../options.ts'
import { print, printable, type TableColumn } from '../print.ts'
import { booksText, printDone } from './decide.ts'
import { ownSigner, withDecisions } from './signing.ts'

const paging: ListKeyset<DecisionLine> = { list: 'decisions', keyOf: ({ id }) => [id.toString()] }

export async function listDecisionsCommand(
  context: Context,
  { state, ...options }: ListOptions & { state?: DecisionState },
): Promise<void> {
  const page = await withDatabase(context, (db) =>
    readPage(options, paging, ({ limit, after }) =>
      listDecisions(db, { state: state ?? null, before: idIn(after) ?? null, limit }),
    ),
  )
  printList(context, page, { columns, empty: 'no decisions' })
}

const columns: TableColumn<DecisionLine>[] = [
  { title: 'DECISION', value: ({ id }) => id.toString(), align: 'right' },
  { title: 'WHAT', value: ({ kind }) => kind },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'REQUESTED', value: ({ requested_at: at }) => at.toISOString() },
  { title: 'BY', value: ({ requested_by: by }) => by ?? '' },
  { title: 'APPROVED BY', value: ({ approved_by: by }) => by ?? '' },
  { title: 'WHY REJECTED', value: ({ reason }) => reason ?? '' },
]

/** The text is printed as it was signed. */
export async function showDecisionCommand(context: Context, word: string): Promise<void> {
  const id = decisionId(word)
  await withDatabase(context, async (db) => {
    const [decision] = await readDecisions(db, { id })
    const [line] = await listDecisions(db, { state: null, before: id + 1n, limit: 1 })
    if (decision === undefined || line === undefined) throw noDecision(word)
    const about = `decision ${id}: ${line.kind}, ${line.state}`
    const events = decision.events.map(({ action, person }) => `${action} by ${person}\n`).join('')
    print(
      context,
      { ...line, text: decision.text, events: decision.events },
      printable(`${about}\n${events}${decision.text}`),
    )
  })
}

/** Shows what would be signed and asks, unless `--yes` is given. */
export async function approveCommand(
  context: Context,
  word: string,
  options: { yes?: boolean; whole?: boolean },
): Promise<void> {
  const id = decisionId(word)
  const signer = ownSigner(context)
  const { content, by } = await withDecisions(context, (deps) => waitingDecision(deps, deps.db, id))
  if (options.yes !== true && !context.json)
    context.stdout.write(await waitingText(context, { id, content, by, isWhole: options.whole === true }))
  if (!(await isAgreed(context, `Sign decision ${id}?`, options)))
    throw wrongUse(
      `decision ${id} was not signed`,
      'end it with "bin/depositd decisions reject" if it is wrong',
    )
  const decided = await withDecisions(context, (deps) => approveDecision(deps, id, signer))
  await printDone(context, decided.content, decided)
}

export async function rejectCommand(
  context: Context,
  word: string,
  { reason }: { reason: string },
): Promise<void> {
  const id = decisionId(word)
  const signer = ownSigner(context)
  await withDecisions(context, (deps) =>
    rejectDecision(deps, { id, reason: textOf('--reason', reason) }, signer),
  )
  print(context, { decision: id, state: 'rejected' }, `decision ${id} is rejected by ${signer.person}\n`)
}

async function waitingText(
  context: Context,
  { id, content, by, isWhole }: { id: bigint; content: DecisionContent; by: string; isWhole: boolean },
): Promise<string> {
  const about = `decision ${id}: ${decisionKindText(content.kind)}, requested by ${by} at ${content.at}`
  const fields = Object.entries(content.change ?? {}).filter(
    ([name, value]) =>
      value !== null &&
      typeof value !== 'object' &&
      (content.kind !== 'opening' || isWhole || name !== 'file'),
  )
  const facts = fields.map(([name, value]) => `  ${name}: ${String(value)}\n`)
  return printable(`${about}\n${facts.join('')}${await booksText(context, content, isWhole)}`)
}

function decisionId(word: string): bigint {
  if (/^\d{1,18}$/.test(word)) return BigInt(word)
  throw noDecision(word)
}

function noDecision(word: string) {
  return notFound(`decision ${word}`, 'use a number from "bin/depositd decisions list"')
}
