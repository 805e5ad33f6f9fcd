import { createTestClient, defineChain, http, publicActions, walletActions } from 'viem'

/**
 * Talks to a node that holds the keys of its own accounts and mines when it is told to.
 */
export function openEvmClient(url: string, chainId: number) {
  const chain = defineChain({
    id: chainId,
    name: `local chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const transport = http(url, { timeout: 10_000 })
  return createTestClient({ mode: 'anvil', chain, transport, pollingInterval: 50, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}

export type EvmClient = ReturnType<typeof openEvmClient>
