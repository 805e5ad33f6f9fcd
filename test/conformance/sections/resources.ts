import {
  mustBeBase58,
  mustBeHexadecimal,
  mustBeNative,
  mustBeShared,
  mustNameNetworks,
} from '../addresses.ts'
import {
  mustAnswerAddresses,
  mustAnswerNames,
  mustAnswerSymbol,
  mustAnswerWallet,
  mustForwardToNetwork,
  mustKeepChannelId,
  mustKeepWalletId,
  mustTakeAddress,
  mustTakeAsset,
  mustTakeBothSpellings,
  mustTakeRecipient,
  mustTakeToken,
  mustWrapWallet,
} from '../creating.ts'
import type { Section } from '../fact.ts'
import { mustListDeposits, mustReceiveEverywhere } from '../receiving.ts'

/** Rows of the page's tables are given with their cells. */
export const resources: readonly Section[] = [
  {
    name: 'Channel',
    facts: [
      {
        says: 'id | string | request and response | Caller-chosen identifier of the channel.',
        test: mustKeepChannelId,
      },
      {
        says: 'forward_network | string | request and response | Destination network, for example a network name such as base or solana.',
        test: mustForwardToNetwork,
      },
      {
        says: 'forward_asset | string | request (one documented form) | Asset to deliver at the destination, for example USDC.',
        test: mustTakeAsset,
      },
      {
        says: 'forward_token | string | request (other documented form) | Asset to deliver at the destination, for example USDC.',
        test: mustTakeToken,
      },
      {
        says: 'forward_recipient | string | request (one documented form) and response | Destination address on the destination network.',
        test: mustTakeRecipient,
      },
      {
        says: 'forward_address | string | request (other documented form) | Destination address on the destination network.',
        test: mustTakeAddress,
      },
      {
        says: 'forward_asset_symbol | string | response | Asset delivered at the destination.',
        test: mustAnswerSymbol,
      },
      {
        says: 'addresses | array of deposit address objects | response | Dedicated deposit addresses of the channel.',
        test: mustAnswerAddresses,
      },
      {
        says: 'Two request spellings are documented for the asset and the destination address: forward_asset with forward_recipient, and forward_token with forward_address.',
        test: mustTakeBothSpellings,
      },
      {
        says: 'The response always uses forward_asset_symbol and forward_recipient.',
        test: mustAnswerNames,
      },
      {
        says: 'A builder accepts both spellings in requests and returns the response names.',
        test: mustAnswerNames,
      },
    ],
    gaps: [],
  },
  {
    name: 'Deposit address object (used by channels and StableWallets)',
    facts: [
      {
        says: 'network | string | Network name. Values seen: mainnet, solana, base, arbitrum.',
        test: mustNameNetworks,
      },
      {
        says: "address | string | Deposit address on that network. Format is the network's native address format.",
        test: mustBeNative,
      },
      {
        says: 'mainnet, base and arbitrum carry a hexadecimal 0x-prefixed address.',
        test: mustBeHexadecimal,
      },
      { says: 'solana carries a base58-style address.', test: mustBeBase58 },
      {
        says: 'The same hexadecimal address is used for mainnet, base and arbitrum of one channel or wallet.',
        test: mustBeShared,
      },
    ],
    gaps: [],
  },
  {
    name: 'StableWallet',
    facts: [
      { says: 'id | string | Caller-chosen identifier of the wallet.', test: mustKeepWalletId },
      {
        says: 'deposit_addresses | array of deposit address objects | Addresses to deposit into.',
        test: mustAnswerWallet,
      },
      { says: 'Every deposit is received as USDC.', test: mustReceiveEverywhere },
      {
        says: 'In a response the StableWallet is wrapped in an object with a single key stable_wallet.',
        test: mustWrapWallet,
      },
    ],
    gaps: [],
  },
  {
    name: 'Deposit (proxy deposit)',
    facts: [
      { says: 'A collection of deposits is readable at the endpoint listed below.', test: mustListDeposits },
    ],
    gaps: [{ says: 'Deposit record fields: not shown.', asks: ['Deposit record fields'] }],
  },
  {
    name: 'Gaps in resource definitions',
    facts: [],
    gaps: [
      {
        says: 'Allowed values of network and asset beyond those named above; id constraints (length, characters, uniqueness, behavior on reuse): not shown.',
        asks: [
          'Allowed values of network and asset beyond those named above',
          'id constraints (length, characters, uniqueness, behavior on reuse)',
        ],
      },
    ],
  },
  {
    name: 'States and transitions',
    facts: [],
    gaps: [
      {
        says: 'No states or lifecycle of any resource are named. States and transitions: not shown.',
        asks: ['States and transitions'],
      },
    ],
  },
]
