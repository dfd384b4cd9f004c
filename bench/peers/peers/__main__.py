from peers.run import main

main()
