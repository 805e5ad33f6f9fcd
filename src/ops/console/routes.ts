import { mayAudit } from '../../people/roles.ts'
import type { ServicesShown } from '../../presentation/text.ts'
import type { CaseAct } from '../../store/mismatches/undo.ts'
import { attachToCase, downloadAttachment, undoWork, workOnCase, workOnCases } from './case-routes.ts'
import { depositFilter, depositPage, depositsPage, foundPage } from './deposits.ts'
import { refused } from './forms.ts'
import { ledgerPage, statementFilter, statementPage } from './ledger.ts'
import {
  addressesPage,
  addressFilter,
  peoplePage,
  proposalFilter,
  proposalsPage,
  quarantineFilter,
  quarantinePage,
  servicesPage,
} from './lists.ts'
import {
  causesPage,
  mentionsMax,
  mentionsPage,
  mismatchesPage,
  mismatchFilter,
  mismatchPage,
} from './mismatches.ts'
import { overviewPage } from './overview.ts'
import { type ConsolePeople, type ConsoleUser, namesOf } from './people.ts'
import {
  approve,
  approveAll,
  draft,
  finishOpenId,
  grantDevice,
  reject,
  requestDecision,
  retryWebhooks,
  showDecision,
  showDecisions,
  showDevice,
  showInvitation,
  showWaiting,
  showYou,
  signedIn,
  signIn,
  signInByLink,
  signOut,
  startOpenId,
  startSignIn,
  takePasskey,
} from './people-routes.ts'
import { missing, numberOf, oneOf, readQuery, shortText } from './query.ts'
import type { ConsoleChoices, ConsoleReader } from './reader.ts'
import { type ConsoleAnswer, type ConsoleHandler, type ConsoleRequest, readNumbered } from './request.ts'
import { settingsPage } from './settings.ts'

type Route = { get?: ConsoleHandler; post?: ConsoleHandler; isPublic?: true; takesFile?: true }

/** A public route is for people who have not signed in. */
export const routes: Readonly<Record<string, Route>> = {
  '/': { get: showOverview },
  '/mismatches': { get: showMismatches, post: workOnCases },
  '/mismatches/causes': { get: showCauses },
  '/mismatches/mentions': { get: showMentions },
  '/mismatches/undo': { post: undoWork },
  '/mismatches/:id': { get: showMismatch, post: workOnCase },
  '/mismatches/:id/attachments': { post: attachToCase, takesFile: true },
  '/attachments/:id': { get: downloadAttachment },
  '/deposits': { get: showDeposits },
  '/deposits/find': { get: findDeposit },
  '/deposits/:id': { get: showDeposit },
  '/deposits/:id/evidence': { get: downloadBundle },
  '/proposals': { get: showProposals },
  '/ledger': { get: showLedger },
  '/ledger/statement': { get: showStatement },
  '/addresses': { get: showAddresses },
  '/webhooks': { get: showQuarantine, post: retryWebhooks },
  '/services': { get: showServices },
  '/settings': { get: showSettings },
  '/people': { get: showPeople },
  '/decisions': { get: showDecisions, post: requestDecision },
  '/decisions/draft': { post: draft },
  '/decisions/waiting': { get: showWaiting, post: approveAll },
  '/decisions/:id': { get: showDecision },
  '/decisions/:id/approve': { post: approve },
  '/decisions/:id/reject': { post: reject },
  '/you': { get: showYou },
  '/sign-in': { get: startSignIn, post: signIn, isPublic: true },
  '/sign-in/open-id': { get: startOpenId, isPublic: true },
  '/sign-in/open-id/callback': { get: finishOpenId, isPublic: true },
  '/sign-in/:id': { get: signInByLink, isPublic: true },
  '/login/:id': { get: showDevice, post: grantDevice, isPublic: true },
  '/sign-out': { post: signOut },
  '/invitations/:id': { get: showInvitation, post: takePasskey, isPublic: true },
}

function choicesOf({ services, networks, explorers }: ConsoleReader): ConsoleChoices & ServicesShown {
  return { services, networks, explorers, hasSeveralServices: services.length > 1 }
}

async function showOverview({ reader, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { refresh } = readQuery(search, { refresh: oneOf(['30']) })
  return overviewPage(await reader.overview(), {
    isLive: refresh !== undefined,
    ...choicesOf(reader),
  })
}

async function showMismatches({ reader, people, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const done = await actIn(search, reader)
  search.delete('done')
  const wish = mismatchFilter(search, reader)
  return mismatchesPage({
    rows: await reader.mismatches(wish),
    wish,
    user,
    names: await namesFor(user, people),
    filter: search.toString(),
    done,
    ...choicesOf(reader),
  })
}

/** What the reader did just before. */
function actIn(search: URLSearchParams, reader: ConsoleReader): Promise<CaseAct | null> {
  const done = search.get('done') ?? ''
  return done === '' ? Promise.resolve(null) : reader.act(numberOf('done', done))
}

async function showCauses({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  return causesPage(await reader.causes(), user, choicesOf(reader))
}

async function showMentions({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { before } = readQuery(search, { before: numberOf })
  if (user === null) return { redirect: '/sign-in?to=/mismatches/mentions' }
  const wish = { before, limit: mentionsMax }
  return mentionsPage(await reader.mentions({ ...wish, person: user.person }), wish, user)
}

async function showMismatch({ reader, people, user, search, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, { done: numberOf })
  const shown = await readNumbered('mismatch', id, reader.mismatch)
  const runbook = reader.runbook(shown.mismatch.kind)
  const [names, done] = await Promise.all([namesFor(user, people), actIn(search, reader)])
  return mismatchPage(shown, { runbook, user, names, done, ...choicesOf(reader) })
}

/** Of everyone; only operators assign. */
async function namesFor(user: ConsoleUser | null, people: ConsolePeople): Promise<string[]> {
  return user?.roles.includes('operator') === true ? namesOf(await people.everyone()) : []
}

async function showDeposits({ reader, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = depositFilter(search, reader)
  return depositsPage({ rows: await reader.deposits(wish), wish, ...choicesOf(reader) })
}

async function findDeposit({ reader, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { reference = '' } = readQuery(search, { reference: shortText })
  const ids = reference === '' ? [] : await reader.findDeposits(reference)
  const [first] = ids
  if (first === undefined) throw missing('deposit', reference)
  return ids.length === 1 ? { redirect: `/deposits/${first}` } : foundPage(reference, ids)
}

/** A merged deposit redirects to the other. */
async function showDeposit({ reader, user, search, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const shown = await readNumbered('deposit', id, reader.deposit)
  return shown.id.toString() === id
    ? depositPage(shown, { user, ...choicesOf(reader) })
    : { redirect: `/deposits/${shown.id}` }
}

async function downloadBundle({ reader, people, ...asked }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(asked.search, {})
  const person = signedIn(asked.user)
  const { id, text } = await readNumbered('deposit', asked.id, reader.bundle)
  await people.recordBundle(person, id)
  return { download: `deposit-${id}.json`, text }
}

async function showAddresses({ reader, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = addressFilter(search, reader)
  return addressesPage({ rows: await reader.addresses(wish), wish, ...choicesOf(reader) })
}

async function showProposals({ reader, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = proposalFilter(search, reader)
  return proposalsPage({ rows: await reader.proposals(wish), wish, ...choicesOf(reader) })
}

async function showQuarantine({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = quarantineFilter(search, reader)
  return quarantinePage({ rows: await reader.quarantine(wish), wish, user, ...choicesOf(reader) })
}

async function showServices({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const [lines, overview] = await Promise.all([reader.scorecard(), reader.overview()])
  return servicesPage({ lines, overview, maySeeSettings: mayAudit(user?.roles ?? []) }, choicesOf(reader))
}

async function showSettings({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const { person, roles } = signedIn(user)
  if (!mayAudit(roles)) throw refused(`${person} is neither auditor nor administrator`)
  return settingsPage(await reader.settings())
}

const logMax = 50

async function showPeople({ people, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const log = user !== null && mayAudit(user.roles) ? await people.log(user, logMax) : null
  return peoplePage(await people.everyone(), log)
}

async function showLedger({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  return ledgerPage(await reader.ledger(), user)
}

async function showStatement({ reader, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = statementFilter(search, new Date())
  return statementPage(wish.owner === '' ? [] : await reader.statement(wish), wish)
}
