import { type Environment, isSet } from '../../config/environment.ts'
import { assetsOf, unpinnedOf } from '../../config/network-schema.ts'
import { parseSettingsFile } from '../../config/settings-file.ts'
import { type Address, assetKey, type NetworkName } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { stableWalletNetwork } from '../../core/evidence.ts'
import { isJson } from '../../intake/json.ts'
import { samplesInItems } from '../../provider/infer/find-items.ts'
import { listingIn } from '../../provider/infer/find-records.ts'
import { type Hints } from '../../provider/infer/hints.ts'
import { inferProfile } from '../../provider/infer/infer-profile.ts'
import { type ProfileTrial, tryProfile, writeProfile } from '../../provider/infer/write-profile.ts'
import { parseLossless } from '../../provider/lossless-json.ts'
import type { Vocabulary } from '../../provider/profile/known-assets.ts'
import { offlineFacts, type ProofFacts } from '../../provider/prove/facts.ts'
import { type ProvedProfile, proveProfile } from '../../provider/prove/prove-profile.ts'
import { pinnedNetworks } from '../../store/assets.ts'
import { newestSamples } from '../../store/inbox.ts'
import { knownPlacesOf } from '../../store/owners.ts'
import { attachedEnvironment, type Context, withDatabase } from '../context.ts'
import { readTextFile } from '../files.ts'
import { wrongUse } from '../options.ts'
import { AsWritten, type News, print, printable } from '../print.ts'
import { type CaptureOptions, isPlace, readCaptures, samplesMax, serviceNamed } from './captures.ts'
import { readChainFacts } from './chain-facts.ts'

type SampleOptions = { records?: string; offline?: true }
type ProfileOptions = CaptureOptions & SampleOptions

/** Bad news if the profile cannot read all of its samples. */
export async function profileCommand(
  context: Context,
  given: SampleOptions & { from: string; service?: string },
): Promise<News> {
  const options = { ...given, service: serviceNamed(context, given.service) }
  const captured = (await readCaptures(context, options)).map(({ body }) => body)
  // The daemon refuses a body that is not JSON; it may be an attacker's.
  const webhooks = captured.filter(isJson).map((body) => parseLossless(body.toString()))
  const answers = await readAnswers(context, options)
  if (webhooks.length + answers.length === 0)
    throw wrongUse(
      `${options.from} contains no webhooks or records`,
      'give captured webhooks with --from, or records with --records',
    )
  const { hints, vocabulary, isAttached, environment } = await knownService(context, options)
  const samples = samplesInItems({ payloads: webhooks, answers }, hints)
  const facts =
    options.offline === true ? offlineFacts(hints) : await readChainFacts(samples, hints, environment)
  const profile = proveProfile({ draft: inferProfile(samples, hints), ...samples }, facts)
  const records = answers.flatMap((answer) => listingIn(answer)?.records ?? [answer])
  const bodies = { webhooks: webhooks.map(bodyOf), records: records.map(bodyOf) }
  const trial = tryProfile(writeProfile(profile, []), bodies, vocabulary)
  const notJson = captured.length - webhooks.length
  const notes = [...(isBookEmpty(hints) ? [isAttached ? emptyBook : noBook] : []), ...nodeNotes(facts)]
  const document = { ...profile, profile: new AsWritten(profile.profile), ...trial, notJson, notes }
  const heading = [...headingOf(trial, { profile, notJson }), ...notes, ...missingNotes(profile)]
  print(context, document, writeProfile(profile, heading))
  return trial.webhooks.unread + trial.records.unread === 0 ? 'good' : 'bad'
}

const emptyBook =
  'The address book is empty, so addresses and owners cannot be recognised. First import yours: bin/depositd channels import FILE, bin/depositd wallets import FILE.'
const noBook =
  'No address book was read, since DATABASE_URL is not set: addresses and owners are recognised by their names and formats only.'

function isBookEmpty({ depositAddresses, recipients, owners }: Hints): boolean {
  return depositAddresses.size + recipients.size + owners.size === 0
}

/** From a file, or from the polls if the webhooks come from the inbox. */
async function readAnswers(context: Context, { from, records, service }: ProfileOptions): Promise<unknown[]> {
  if (records !== undefined) return parseAnswers(records, readTextFile('--records', records))
  if (from !== 'inbox') return []
  const kept = await withDatabase(context, (db) => newestSamples(db, 'api', { limit: samplesMax, service }))
  return kept.map(({ body }) => parseLossless(body.toString()))
}

export function parseAnswers(path: string, text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  for (const documents of [[text], lines]) {
    try {
      return documents.map(parseLossless)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  const problem = `${path} is neither a JSON document nor JSON lines`
  throw wrongUse(problem, 'save a response of the API unchanged')
}

export function bodyOf(document: unknown): Buffer {
  return Buffer.from(JSON.stringify(document))
}

type HeadingParts = { profile: ProvedProfile; notJson: number }

function headingOf(
  { webhooks, records, problems }: ProfileTrial,
  { profile, notJson }: HeadingParts,
): string[] {
  const { proofs } = profile
  const proved = proofs.filter(({ proof }) => proof.kind === 'proved').length
  return [
    `A draft. It reads ${shareOf(webhooks, 'webhooks')} and ${shareOf(records, 'records')}.`,
    `Proved: ${proved} of ${proofs.length} lines.${proved === proofs.length ? '' : ' Lines marked as unsure are guesses: check each of them.'}`,
    ...(notJson === 0 ? [] : [`Captured bodies that are not JSON: ${notJson}.`]),
    ...problems.map((problem) => `Not read: ${printable(problem)}`),
  ]
}

function nodeNotes({ isOffline, silent }: ProofFacts): string[] {
  if (isOffline) return [noNodes]
  return silent.map(
    ({ network, problem }) => `Transactions on ${network} were not looked up: ${printable(problem)}`,
  )
}

const noNodes =
  'No node was asked, so nothing is proved by a chain. Set RPC_… to nodes of your networks, and leave out --offline.'

function missingNotes({ missing }: ProvedProfile): string[] {
  if (missing.length === 0) return []
  return ['Missing samples:', ...missing.map((one) => `- ${printable(one)}`)]
}

function shareOf({ read, ignored, unread }: ProfileTrial['webhooks'], what: string): string {
  const share = `${read + ignored} of ${read + ignored + unread} ${what}`
  return ignored === 0 ? share : `${share} (${ignored} ignored)`
}

type ServiceHints = {
  hints: Hints
  vocabulary: Vocabulary
  isAttached: boolean
  environment: Environment
}

/**
 * Facts known before payloads can be read: networks, assets and the address book. For samples of a file, a database is
 * used only if one is set.
 */
async function knownService(context: Context, { from, service }: CaptureOptions): Promise<ServiceHints> {
  const isAttached = isPlace(from) || isSet(context.environment, 'DATABASE_URL')
  const environment = isAttached ? attachedEnvironment(context) : context.environment
  const vocabulary = readVocabulary(environment.DEPOSITD_CONFIG)
  if (!isAttached) {
    const unknown = { depositAddresses: new Set<string>(), recipients: new Set<string>(), owners: new Map() }
    return { hints: { ...vocabulary, ...unknown }, vocabulary, isAttached, environment }
  }
  return withDatabase(context, async (db) => {
    const networks = await pinnedNetworks(db, vocabulary.networks)
    const hints = { networks, ...(await knownPlacesOf(db, service)) }
    return { hints, vocabulary: { ...vocabulary, networks }, isAttached, environment }
  })
}

/** The built-in networks without a path. */
export function readVocabulary(path: string | undefined): Vocabulary {
  const { file, faults } = parseSettingsFile(path === undefined ? '' : readTextFile('DEPOSITD_CONFIG', path))
  if (file === null)
    throw new Fault('settings_bad', { faults: faults.map((fault) => `DEPOSITD_CONFIG, ${fault}`) })
  const { credit } = file.service
  const network = stableWalletNetwork
  return {
    networks: file.networks.map((entry) => ({
      name: entry.name as NetworkName,
      family: entry.family,
      chainId: entry.chainId,
      rpcUrls: [],
      assets: assetsOf(entry),
      unpinned: unpinnedOf(entry),
    })),
    creditAsset: { key: assetKey(network, credit.symbol as Address), network, ...credit },
  }
}
