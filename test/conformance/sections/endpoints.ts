import { mustNameNetworks } from '../addresses.ts'
import {
  mustBeRelative,
  mustCarryKey,
  mustCreateChannelWithWrite,
  mustCreateWalletWithWrite,
  mustReadDeposits,
  mustReadWithEither,
  mustTakeJson,
} from '../calls.ts'
import { mustAnswerChannel, mustAnswerWallet, mustTakeBothSpellings } from '../creating.ts'
import type { Section } from '../fact.ts'
import { mustForwardFromEveryAddress } from '../forwarding.ts'
import { mustReceiveEverywhere } from '../receiving.ts'

export const endpoints: readonly Section[] = [
  {
    name: 'Endpoints',
    facts: [
      { says: 'All paths are relative to {base_url}.', test: mustBeRelative },
      { says: 'Requests with a body send Content-Type application/json.', test: mustTakeJson },
      { says: 'Every call carries the X-API-KEY header (see Authentication).', test: mustCarryKey },
    ],
    gaps: [],
  },
  {
    name: 'GET /v1/proxies/deposits',
    facts: [
      { says: 'Purpose: read deposits.', test: mustReadDeposits },
      { says: 'Requires at least the read scope.', test: mustReadWithEither },
    ],
    gaps: [
      { says: 'Query parameters and response body: not shown.', asks: ['Query parameters', 'response body'] },
    ],
  },
  {
    name: 'POST /v1/channels',
    facts: [
      { says: 'Purpose: create a channel.', test: mustAnswerChannel },
      { says: 'Requires the write scope.', test: mustCreateChannelWithWrite },
      {
        says: 'Request body (JSON object): id (string), forward_network (string), the asset field (forward_asset or forward_token, string), and the destination address field (forward_recipient or forward_address, string).',
        test: mustTakeBothSpellings,
      },
      {
        says: 'Response body (JSON object): id (string), addresses (array of deposit address objects, one per network: mainnet, solana, base, arbitrum), forward_network (string), forward_asset_symbol (string), forward_recipient (string).',
        test: async (run) => {
          await mustAnswerChannel(run)
          await mustNameNetworks(run)
        },
      },
      {
        says: 'Behavior: deposits to any returned address are converted and forwarded to the destination address on forward_network, unless a policy overrides this.',
        test: mustForwardFromEveryAddress,
      },
    ],
    gaps: [
      { says: 'Which request fields are required: not shown.', asks: ['Which request fields are required'] },
    ],
  },
  {
    name: 'POST /v1/stable-wallets',
    facts: [
      { says: 'Purpose: create a StableWallet.', test: mustAnswerWallet },
      { says: 'Requires the write scope.', test: mustCreateWalletWithWrite },
      { says: 'Request body (JSON object): id (string).', test: mustAnswerWallet },
      {
        says: 'Response body (JSON object): stable_wallet, an object holding id (string) and deposit_addresses (array of deposit address objects, one per network: mainnet, solana, base, arbitrum).',
        test: async (run) => {
          await mustAnswerWallet(run)
          await mustNameNetworks(run)
        },
      },
      {
        says: 'Behavior: every deposit to any returned address is received as USDC.',
        test: mustReceiveEverywhere,
      },
    ],
    gaps: [
      {
        says: 'Whether id is required and whether other request fields exist: not shown.',
        asks: ['Whether id is required', 'whether other request fields exist'],
      },
    ],
  },
  {
    name: 'Other operations',
    facts: [],
    gaps: [
      {
        says: 'Success status codes of all endpoints: not shown.',
        asks: ['Success status codes of all endpoints'],
      },
      {
        says: 'Operations to retrieve, list, update or delete channels and StableWallets, to manage policies, and to register webhooks: not shown.',
        asks: [
          'Operations to retrieve, list, update or delete channels and StableWallets',
          'to manage policies',
          'to register webhooks',
        ],
      },
    ],
  },
]
