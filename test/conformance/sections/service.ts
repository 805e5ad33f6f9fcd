import { mustBeDedicated } from '../addresses.ts'
import { mustAskForKey, mustBeSecure, mustTalkJson } from '../calls.ts'
import { mustReportOfTransfer } from '../events.ts'
import { type Section, unseen } from '../fact.ts'
import { mustForward, mustForwardAll, mustHold } from '../forwarding.ts'
import { mustReceiveAsUsdc, mustSpendEverywhere } from '../receiving.ts'

export const service: Section = {
  name: 'What the service does',
  facts: [
    {
      says: 'The service moves tokens between blockchain networks and receives deposits through dedicated addresses.',
      test: mustForward,
    },
    {
      says: 'A channel is a forwarding rule with a set of dedicated deposit addresses, one per supported network.',
      test: mustBeDedicated,
    },
    {
      says: 'Tokens sent to any of those addresses are converted and forwarded in real time to a destination on a chosen network.',
      test: mustForwardAll,
    },
    { says: 'The channel does this unless a policy overrides it.', test: mustHold },
    {
      says: 'A StableWallet is a self-custodial wallet.',
      test: unseen('who holds the keys cannot be seen by calls'),
    },
    { says: 'It receives every deposit as USDC.', test: mustReceiveAsUsdc },
    { says: 'Its balance is available on all networks at the same time.', test: mustSpendEverywhere },
    {
      says: 'Progress of transfers can be followed through webhooks instead of polling.',
      test: mustReportOfTransfer,
    },
    { says: 'All calls are made over HTTPS against {base_url}', test: mustBeSecure },
    { says: 'use JSON bodies', test: mustTalkJson },
    { says: 'are authenticated with an API key', test: mustAskForKey },
  ],
  gaps: [],
}
