import type { Run } from './fact.ts'
import { freshId } from './identities.ts'
import { must, NotChecked } from './outcome.ts'
import { createChannel, createWallet, freshRule, requestOf } from './owners.ts'
import { listDeposits } from './payments.ts'
import { type Call, call, mustBeRefused, mustSucceed, readKeyOf, type Subject, statusOf } from './subject.ts'

/** The three calls of the interface, each as it would succeed. */
function everyCall(): Required<Pick<Call, 'path' | 'body'>>[] {
  return [
    { path: '/v1/proxies/deposits', body: undefined },
    { path: '/v1/channels', body: requestOf(freshRule()) },
    { path: '/v1/stable-wallets', body: { id: freshId() } },
  ]
}

/** Every call succeeds with the write key, and answers JSON: `call` refuses anything else. */
async function callEverything(subject: Subject): Promise<void> {
  for (const wanted of everyCall()) mustSucceed(await call(subject, wanted), wanted.path)
}

/** Over TLS whose certificate holds; and what is served there is not served in the clear. */
export async function mustBeSecure(run: Run): Promise<void> {
  const { subject } = run
  if (!subject.url.startsWith('https:')) throw new NotChecked('needs a --url that begins with https://')
  await run.once(callEverything)
  const inClear = { ...subject, url: subject.url.replace(/^https:/, 'http:') }
  const status = await statusOf(inClear, { path: '/v1/proxies/deposits' }).catch(() => null)
  must(status === null || status >= 300, `a call in the clear was answered with ${status}`)
}

export async function mustTalkJson(run: Run): Promise<void> {
  await run.once(callEverything)
}

/** Nobody gets in without a key, or with one that was never issued. */
export async function mustAskForKey(run: Run): Promise<void> {
  await mustCarryKey(run)
  for (const wanted of everyCall()) {
    const status = await statusOf(run.subject, { ...wanted, key: `never-issued-${freshId()}` })
    mustBeRefused(status, `${wanted.path} with a key that was never issued`)
  }
}

export async function mustCarryKey(run: Run): Promise<void> {
  await run.once(callEverything)
  await run.once(callWithoutKey)
}

async function callWithoutKey(subject: Subject): Promise<void> {
  for (const wanted of everyCall())
    mustBeRefused(await statusOf(subject, { ...wanted, key: null }), `${wanted.path} without a key`)
}

/** Every path that is shown is there below the base address. */
export async function mustBeRelative(run: Run): Promise<void> {
  await run.once(callEverything)
}

/** `call` sends that header with every body. */
export async function mustTakeJson({ subject }: Run): Promise<void> {
  await createChannel(subject, freshRule())
  await createWallet(subject, freshId())
}

/** The same paths without the version are not served. */
export async function mustBeginWithVersion(run: Run): Promise<void> {
  const { subject } = run
  await run.once(callEverything)
  for (const { path, body } of everyCall()) {
    const bare = path.replace(/^\/v1/, '')
    mustBeRefused(await statusOf(subject, { path: bare, body }), bare)
  }
}

export async function mustReadDeposits({ subject }: Run): Promise<void> {
  await listDeposits(subject)
}

export async function mustReadWithEither({ subject }: Run): Promise<void> {
  await listDeposits(subject, readKeyOf(subject))
  await listDeposits(subject)
}

export async function mustHaveTwoScopes(run: Run): Promise<void> {
  await mustReadWithEither(run)
  await mustCreateWithWrite(run)
}

export async function mustCreateWithWrite(run: Run): Promise<void> {
  await mustCreateChannelWithWrite(run)
  await mustCreateWalletWithWrite(run)
}

export async function mustCreateChannelWithWrite({ once }: Run): Promise<void> {
  await once(createChannelWithEither)
}

export async function mustCreateWalletWithWrite({ once }: Run): Promise<void> {
  await once(createWalletWithEither)
}

function createChannelWithEither(subject: Subject): Promise<void> {
  return mustRefuseReader(subject, '/v1/channels', () => requestOf(freshRule()))
}

function createWalletWithEither(subject: Subject): Promise<void> {
  return mustRefuseReader(subject, '/v1/stable-wallets', () => ({ id: freshId() }))
}

/** What the write key may create, the read key may not. */
async function mustRefuseReader(subject: Subject, path: string, body: () => object): Promise<void> {
  const status = await statusOf(subject, { path, body: body(), key: readKeyOf(subject) })
  mustBeRefused(status, `${path} with a read key`)
  mustSucceed(await call(subject, { path, body: body() }), `${path} with a write key`)
}
