import { z } from 'zod'
import { personRoles } from '../people/roles.ts'
import { isLoopback } from './environment-settings.ts'

const claim = z.string().min(1).max(100)

/** Sign-in to the console by a provider of OpenID Connect; without it, people have passkeys alone. */
export const signInSection = z
  .strictObject({
    openId: z
      .strictObject({
        issuer: z
          .url({ protocol: /^https?$/, error: 'must be an address of the form https://' })
          .refine(isSafe, 'must be an address of the form https://, except on loopback'),
        clientId: z.string().min(1),
        scopes: z.string().min(1).default('openid profile'),
        /** Claims with the name of the person and their groups. */
        nameClaim: claim.default('preferred_username'),
        groupsClaim: claim.default('groups'),
        /** By group. */
        roles: z.record(z.string(), z.array(z.enum(personRoles)).min(1)),
      })
      .nullable()
      .default(null),
  })
  .prefault({})

export type OpenIdSettings = NonNullable<z.output<typeof signInSection>['openId']>

function isSafe(text: string): boolean {
  const url = URL.parse(text)
  return url?.protocol === 'https:' || isLoopback(url?.hostname ?? '')
}
