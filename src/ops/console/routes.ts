import { type SavedView, type ViewPage, viewNameMax, viewPages } from '../../core/saved-view.ts'
import type { CaseAct } from '../../store/mismatches/undo.ts'
import { addressesPage, addressFilter, endAddresses, importAddresses } from './addresses.ts'
import { attachToCase, downloadAttachment, undoWork, workOnCase, workOnCases } from './case-routes.ts'
import {
  approve,
  approveAll,
  downloadText,
  draft,
  draftPolicy,
  reject,
  requestDecision,
  showDecision,
  showDecisions,
  showWaiting,
} from './decision-routes.ts'
import { depositFilter, depositPage, depositsPage, foundPage } from './deposits.ts'
import { runDoctor, showDoctor } from './doctor.ts'
import { downloadBundle, downloadDispute, downloadExport } from './downloads.ts'
import { changeEndpoint, makeEndpoint, showEndpoint, showEndpoints } from './endpoints.ts'
import { refused } from './forms.ts'
import { draftJournal, draftReversal, showJournal, showJournals, showNewJournal } from './journals.ts'
import { ledgerPage, statementFilter, statementPage } from './ledger.ts'
import { proposalFilter, proposalsPage, servicesPage } from './lists.ts'
import { mismatchPage } from './mismatch-page.ts'
import { causesPage, mentionsMax, mentionsPage, mismatchesPage, mismatchFilter } from './mismatches.ts'
import { networksPage } from './networks.ts'
import { overviewPage } from './overview.ts'
import {
  type ConsolePeople,
  type ConsoleUser,
  may,
  mayRequest,
  namesOf,
  personWho,
  signedIn,
} from './people.ts'
import { changePeople, peoplePage } from './people-pages.ts'
import { missing, numberOf, oneOf, readQuery, shortText } from './query.ts'
import { type ConsoleReader, choicesOf } from './reader.ts'
import { type ConsoleAnswer, type ConsoleHandler, type ConsoleRequest, readNumbered } from './request.ts'
import { settingsPage } from './settings.ts'
import {
  finishOpenId,
  grantDevice,
  showDevice,
  showInvitation,
  showYou,
  signIn,
  signInByLink,
  signOut,
  startOpenId,
  startSignIn,
  takePasskey,
} from './sign-in.ts'
import { listPath, viewQuery } from './tabs.ts'
import { changeTokens, showTokens } from './tokens.ts'
import { dropWebhook, retryWebhooks, showQuarantine, showWebhook } from './webhooks.ts'

type Route = { get?: ConsoleHandler; post?: ConsoleHandler; isPublic?: true; takesFile?: true }

/** A public route is for people who have not signed in. */
export const routes: Readonly<Record<string, Route>> = {
  '/': { get: showOverview },
  '/mismatches': { get: showMismatches, post: workOnCases },
  '/mismatches/causes': { get: showCauses },
  '/mismatches/mentions': { get: showMentions },
  '/mismatches/undo': { post: undoWork },
  '/views': { post: changeViews },
  '/mismatches/:id': { get: showMismatch, post: workOnCase },
  '/mismatches/:id/attachments': { post: attachToCase, takesFile: true },
  '/attachments/:id': { get: downloadAttachment },
  '/mismatches/:id/dispute': { get: downloadDispute },
  '/deposits': { get: showDeposits },
  '/deposits/find': { get: findDeposit },
  '/deposits/:id': { get: showDeposit },
  '/deposits/:id/evidence': { get: downloadBundle },
  '/proposals': { get: showProposals },
  '/ledger': { get: showLedger },
  '/ledger/export': { post: downloadExport },
  '/ledger/journals': { get: showJournals, post: draftJournal },
  '/ledger/journals/new': { get: showNewJournal },
  '/ledger/journals/:id': { get: showJournal, post: draftReversal },
  '/ledger/statement': { get: showStatement },
  '/addresses': { get: showAddresses, post: importAddresses, takesFile: true },
  '/addresses/end': { post: endAddresses },
  '/webhooks': { get: showQuarantine, post: retryWebhooks },
  '/webhooks/:id': { get: showWebhook, post: dropWebhook },
  '/services': { get: showServices },
  '/networks': { get: showNetworks },
  '/doctor': { get: showDoctor, post: runDoctor },
  '/settings': { get: showSettings, post: draftPolicy },
  '/people': { get: showPeople, post: changePeople },
  '/tokens': { get: showTokens, post: changeTokens },
  '/endpoints': { get: showEndpoints, post: makeEndpoint },
  '/endpoints/:id': { get: showEndpoint, post: changeEndpoint },
  '/decisions': { get: showDecisions, post: requestDecision },
  '/decisions/draft': { post: draft },
  '/decisions/waiting': { get: showWaiting, post: approveAll },
  '/decisions/:id': { get: showDecision },
  '/decisions/:id/text': { get: downloadText },
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
    views: await viewsFor(user, reader, 'mismatches'),
    ...choicesOf(reader),
  })
}

/** Of those who have signed in. */
function viewsFor(
  user: ConsoleUser | null,
  reader: ConsoleReader,
  page: ViewPage,
): Promise<readonly SavedView[]> {
  return user === null ? Promise.resolve([]) : reader.views(page)
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
  const [about, names, done] = await Promise.all([
    shown.deposit && reader.deposit(BigInt(shown.deposit.id)),
    namesFor(user, people),
    actIn(search, reader),
  ])
  return mismatchPage(shown, { runbook, about, user, names, done, ...choicesOf(reader) })
}

/** Of everyone; only operators assign. */
async function namesFor(user: ConsoleUser | null, people: ConsolePeople): Promise<string[]> {
  return may(user, 'work on cases') ? namesOf(await people.everyone()) : []
}

async function showDeposits({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = depositFilter(search, reader)
  const [rows, views] = await Promise.all([reader.deposits(wish), viewsFor(user, reader, 'deposits')])
  return depositsPage({ rows, wish, query: viewQuery(search), views, user, ...choicesOf(reader) })
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

async function showAddresses({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = addressFilter(search, reader)
  return addressesPage({ rows: await reader.addresses(wish), wish, user, ...choicesOf(reader) })
}

async function showProposals({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = proposalFilter(search, reader)
  return proposalsPage({ rows: await reader.proposals(wish), wish, user, ...choicesOf(reader) })
}

async function showServices({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const [lines, overview] = await Promise.all([reader.scorecard(), reader.overview()])
  return servicesPage({ lines, overview, user }, choicesOf(reader))
}

async function showNetworks({ reader, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const [overview, nodes] = await Promise.all([reader.overview(), reader.nodes()])
  return networksPage({ settings: reader.networkSettings, overview, nodes })
}

async function showSettings({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  return settingsPage(await reader.settings(), personWho(user, 'see the settings'))
}

const logMax = 50

async function showPeople({ people, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const log = user !== null && may(user, 'see the audit log') ? await people.log(user, logMax) : null
  const invitations = mayRequest(user, 'person') ? await people.invitations() : []
  return peoplePage({ people: await people.everyone(), log, invitations, user })
}

async function showLedger({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  return ledgerPage(await reader.ledger(), user)
}

async function showStatement({ reader, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = statementFilter(search, new Date())
  return statementPage(wish.owner === '' ? [] : await reader.statement(wish), wish)
}

const filters = { mismatches: mismatchFilter, deposits: depositFilter }

/** Lists under a name, which all who sign in see. */
async function changeViews({ reader, people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { person: savedBy } = signedIn(user)
  const page = oneOf(viewPages)('page', field('page'))
  const name = field('name')
  if (name === '' || name.length > viewNameMax || /\p{C}/u.test(name))
    throw refused(`give a name of at most ${viewNameMax} signs`, 400)
  const query = readView(page, field('filter'), reader)
  if (field('action') === 'remove') await people.removeView({ page, name })
  else await people.saveView({ page, name, query, savedBy })
  return { redirect: listPath(page, query) }
}

/** @throws Fault `request_refused` if it is no filter of the page */
function readView(page: ViewPage, filter: string, reader: ConsoleReader): string {
  const query = viewQuery(filter)
  filters[page](new URLSearchParams(query), reader)
  return query
}
