import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { z } from 'zod'
import { Fault, messageOf } from '../../core/errors.ts'
import { personNameForm } from '../../people/decision.ts'
import type { PersonRole } from '../../people/roles.ts'
import {
  endStarted,
  openSession,
  refusedSignIn,
  type SignInDeps,
  type SignInToken,
  startSession,
} from './sign-in.ts'

/** Of the provider, and how its claims are read. */
export type OpenIdProvider = {
  issuer: string
  clientId: string
  /** Null for a public client. */
  clientSecret: string | null
  scopes: string
  nameClaim: string
  groupsClaim: string
  roles: Readonly<Record<string, readonly PersonRole[]>>
}

export type OpenId = {
  /** @returns where the browser goes, and what it holds meanwhile */
  start: () => Promise<{ token: SignInToken; redirect: string }>
  /** @throws Fault `request_refused` if the provider did not confirm a person with a role */
  finish: (token: SignInToken, search: URLSearchParams) => Promise<SignInToken>
}

const callbackPath = '/sign-in/open-id/callback'

/** Base64url, with a space between them. */
const startedForm = /^(?<verifier>[\w-]+) (?<state>[\w-]+) (?<nonce>[\w-]+)$/

type StartedOpenId = { verifier: string; state: string; nonce: string }

/** The provider is asked for its addresses at the first sign-in, and again until it answers. */
export function createOpenId(deps: SignInDeps, provider: OpenIdProvider): OpenId {
  let found: Configuration | null = null
  const configuration = async () => (found ??= await discovered(provider))
  const callback = deps.origin + callbackPath
  return {
    async start() {
      const config = await configuration()
      const [verifier, state, nonce] = [randomPKCECodeVerifier(), randomState(), randomNonce()]
      const redirect = buildAuthorizationUrl(config, {
        redirect_uri: callback,
        scope: provider.scopes,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      })
      return { token: await startSession(deps.db, `${verifier} ${state} ${nonce}`), redirect: redirect.href }
    },
    async finish(token, search) {
      const challenge = await endStarted(deps.db, token)
      const started = startedForm.exec(challenge ?? '')?.groups
      if (started === undefined)
        throw refusedSignIn('the sign-in took too long or was used already: begin again')
      const claims = await claimsOf(
        await configuration(),
        new URL(`${callback}?${search.toString()}`),
        started as StartedOpenId,
      )
      const { person, roles } = personOf(claims, provider)
      return openSession(deps.db, { person, roles, by: provider.issuer })
    },
  }
}

async function discovered({ issuer, clientId, clientSecret }: OpenIdProvider): Promise<Configuration> {
  const url = new URL(issuer)
  const execute = url.protocol === 'http:' ? [allowInsecureRequests] : []
  try {
    return await discovery(url, clientId, clientSecret ?? undefined, undefined, { execute, timeout: 10 })
  } catch (error) {
    throw new Fault(
      'remote_failed',
      { what: `the sign-in at ${issuer}`, problem: messageOf(error) },
      { cause: error },
    )
  }
}

type Claims = Readonly<Record<string, unknown>>

/** Groups are often only in the second answer. */
async function claimsOf(
  config: Configuration,
  url: URL,
  { verifier, state, nonce }: StartedOpenId,
): Promise<Claims> {
  try {
    const answer = await authorizationCodeGrant(config, url, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    })
    const claims = answer.claims() ?? { sub: '' }
    const hasMore = config.serverMetadata().userinfo_endpoint !== undefined
    return { ...claims, ...(hasMore ? await fetchUserInfo(config, answer.access_token, claims.sub) : {}) }
  } catch (error) {
    throw refusedSignIn(`the provider did not confirm you: ${messageOf(error)}`)
  }
}

function personOf(claims: Claims, { nameClaim, groupsClaim, roles }: OpenIdProvider) {
  const person = z.string().regex(personNameForm).safeParse(claims[nameClaim]).data
  if (person === undefined) throw refusedSignIn(`the provider gives no usable name in the claim ${nameClaim}`)
  const groups = z.array(z.string()).safeParse(claims[groupsClaim]).data ?? []
  const own = [
    ...new Set(groups.flatMap((group) => (Object.hasOwn(roles, group) ? (roles[group] ?? []) : []))),
  ]
  if (own.length > 0) return { person, roles: own }
  throw refusedSignIn(`no group of ${person} has a role here: an administrator sets signIn.openId.roles`)
}
